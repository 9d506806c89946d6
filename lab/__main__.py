"""`python -m lab`: the embedded lab alone, in the foreground; its faults; the runner's child."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.server import Lab, Settings

USAGE = 4


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(USAGE, f"lab: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "faults":
        return _faults()
    from lab.server import Lab

    try:
        settings = _settings(options)
        lab = Lab(settings)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"lab: {error}\n")
        return USAGE
    if options.command == "describe":
        _say({"inventory": str(lab.describe().resolve())})
        return 0
    if options.command == "serve":
        return asyncio.run(_serve(lab))
    return asyncio.run(_foreground(lab))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m lab", description=__doc__)
    parser.add_argument(
        "command", nargs="?", choices=("run", "serve", "describe", "faults"), default="run"
    )
    parser.add_argument("--reports", default="reports", help="reports folder (default: reports)")
    parser.add_argument("--scenario", action="append", default=[], help="scenario file; repeatable")
    parser.add_argument("--rtt", default="0ms", help="round-trip time to add, as in 10ms")
    parser.add_argument("--nodes", type=int, default=6, help="nodes in all (default: 6)")
    parser.add_argument("--phase", help="how far the cluster is applied: 0 b c f6 e d d2 w f g")
    parser.add_argument("--control", action="store_true", help="take orders on stdin (serve)")
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    from lab.phase import Phase
    from lab.scenario import load
    from lab.server import Settings, milliseconds

    return Settings(
        reports=Path(options.reports),
        scenarios=tuple(load(Path(path)) for path in options.scenario),
        nodes=options.nodes,
        phase=Phase.named(options.phase) if options.phase else None,
        rtt=milliseconds(options.rtt),
    )


def _faults() -> int:
    from lab.faults import FAULTS

    for name, fault in sorted(FAULTS.items()):
        sys.stdout.write(f"{name}: {fault.parameters}\n    {fault.summary}\n")
    return 0


async def _serve(lab: Lab) -> int:
    """The runner's child: says where it is, obeys, and ends when its stdin does."""
    inventory = await lab.start()
    loop = asyncio.get_running_loop()
    # The runner decides when the lab ends; a Ctrl-C is the runner's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminated = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, terminated.set)
    _say({"inventory": str(inventory.resolve()), "port": lab.port})
    orders = asyncio.create_task(_obey(lab))
    ending = asyncio.create_task(terminated.wait())
    await asyncio.wait({orders, ending}, return_when=asyncio.FIRST_COMPLETED)
    for task in (orders, ending):
        task.cancel()
    await lab.stop()
    return 0


async def _obey(lab: Lab) -> None:
    from lab.phase import Phase

    loop = asyncio.get_running_loop()
    # A thread of its own, which nobody waits for at the end: stdin may be a pipe, a file or a
    # terminal, and not all of them can be polled.
    thread = ThreadPoolExecutor(1)
    while line := await loop.run_in_executor(thread, sys.stdin.buffer.readline):
        try:
            lab.apply(Phase.named(str(json.loads(line)["apply"])))
        except (KeyError, TypeError, ValueError, OSError) as error:
            _say({"ok": False, "error": str(error)})
        else:
            _say({"ok": True})


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def _foreground(lab: Lab) -> int:
    from lab.server import ssh_lines

    if lab.settings.phase is None and not any(s.phase for s in lab.settings.scenarios):
        from lab.phase import Phase

        lab.apply(Phase.C)
    inventory = await lab.start()
    print(f"lab: {len(lab.layout.nodes)} nodes, applied up to phase {lab.world.phase.value}")
    for scenario in lab.settings.scenarios:
        print(f"scenario: {scenario.name} ({', '.join(scenario.fault_names) or 'no faults'})")
    print(f"inventory: {inventory.resolve()}")
    print(f"commands are logged in {(lab.folder / 'commands.jsonl').resolve()}")
    names = [machine.name for machine in lab.layout.nodes]
    for name, line in zip(["bastion", *names], ssh_lines(lab, names), strict=True):
        print(f"{name}:\n  {line}")
    print("Ctrl-C ends the lab.", flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    await lab.stop()
    print("lab: ended")
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # Nothing is left to do, and executor threads that still import must not hold the exit up.
    os._exit(status)
