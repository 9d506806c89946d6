"""Keeps a lab running: as the child of a runner, or in the foreground of a terminal."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from lab.phase import Phase
from lab.server import ssh_lines

if TYPE_CHECKING:
    from lab.server import Lab


async def for_a_runner(lab: Lab) -> int:
    """Say where the lab is, obey the orders on stdin, and end when stdin does."""
    inventory = await lab.start()
    # The runner decides when the lab ends; a Ctrl-C is the runner's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminated = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminated.set)
    say({"inventory": str(inventory.resolve()), "port": lab.port})
    tasks = {asyncio.create_task(_obey(lab)), asyncio.create_task(terminated.wait())}
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await lab.stop()
    return 0


async def _obey(lab: Lab) -> None:
    loop = asyncio.get_running_loop()
    # A thread of its own, which nobody waits for at the end: stdin may be a pipe, a file or a
    # terminal, and not all of them can be polled.
    thread = ThreadPoolExecutor(1)
    while line := await loop.run_in_executor(thread, sys.stdin.buffer.readline):
        try:
            lab.apply(Phase.named(str(json.loads(line)["apply"])))
        except Exception as error:  # whatever it is, the runner must hear of it
            say({"ok": False, "error": f"{type(error).__name__}: {error}"})
        else:
            say({"ok": True})


def say(message: dict[str, object]) -> None:
    """One JSON line on stdout."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def in_the_foreground(lab: Lab) -> int:
    """Say how to get in, and run until Ctrl-C."""
    if lab.settings.phase is None:
        lab.apply(Phase.C)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    inventory = await lab.start()
    sys.stdout.write("\n".join([*_description(lab), f"inventory: {inventory.resolve()}", ""]))
    sys.stdout.write("Ctrl-C ends the lab.\n")
    sys.stdout.flush()
    await stop.wait()
    await lab.stop()
    sys.stdout.write("\nlab: ended\n")
    return 0


def _description(lab: Lab) -> list[str]:
    names = [machine.name for machine in lab.layout.nodes]
    lines = [f"lab: {len(names)} nodes, applied up to phase {lab.world.phase.value}"]
    for scenario in lab.settings.scenarios:
        faults = ", ".join(scenario.fault_names) or "none"
        lines.append(f"scenario: {scenario.name} (faults: {faults})")
    for name, line in zip([lab.layout.bastion.name, *names], ssh_lines(lab, names), strict=True):
        lines += [f"{name}:", f"  {line}"]
    lines.append(f"every command is logged in {(lab.folder / 'commands.jsonl').resolve()}")
    return lines
