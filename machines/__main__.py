"""`python -m machines`: the machines lab from the command line."""

from __future__ import annotations

import argparse
import os
import signal
import sys

from machines import acceptance, cgroups, dirs, faults, lab, network, plan, tofu_trial
from machines.build import build, require_root
from machines.console import say
from machines.container import Container
from machines.errors import LabError
from machines.tofu_cases import CASES


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit status: 0, 1 when the lab says no, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except LabError as reason:
        sys.stderr.write(f"machines: {reason}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("machines: interrupted; `python -m machines down` leaves nothing behind\n")
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m machines", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=summary, description=summary)
        made.set_defaults(run=_COMMANDS[name])
        return made

    add("build", "make what the cache lacks: programs, image, RKE2 layer")
    add("up", "start the lab, or find it healthy").add_argument(
        "--phase", type=plan.Phase, choices=list(plan.Phase), default=plan.Phase.C
    )
    add("down", "stop the lab and leave nothing behind")
    add("status", "what runs, and what is wrong with it")
    add("faults", "the faults, and which are in force")
    add("break", "bring a fault about").add_argument("fault")
    add("mend", "undo a fault").add_argument("fault")
    accept = add("acceptance", "the suite against the lab: healthy, its drills, under each fault")
    accept.add_argument(
        "--fault",
        action="append",
        default=[],
        help="only this one, `plans`, `drills`, `workers` or `ceph`; repeatable",
    )
    accept.add_argument("--keep", action="store_true", help="leave the lab up")
    plans = add("plans", "plans of the real OpenTofu, judged by the suite; needs no lab")
    plans.add_argument("--record", action="store_true", help="write the selftests' recordings")
    shell = add("shell", "a root shell in a machine")
    shell.add_argument("machine")
    execute = add("exec", "a command in a machine, as root")
    execute.add_argument("machine")
    execute.add_argument("command", nargs=argparse.REMAINDER)
    run = add("run", "a command on the controller: in its network namespace, as you are")
    run.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def _build(options: argparse.Namespace) -> int:
    del options
    with lab.exclusive():
        layers = build()
    say(f"built: {layers.image} and {layers.rke2}")
    return 0


def _up(options: argparse.Namespace) -> int:
    with lab.exclusive():
        lab.up(options.phase)
    return 0


def _down(options: argparse.Namespace) -> int:
    del options
    with lab.exclusive():
        lab.down()
    say("the lab is down")
    return 0


def _status(options: argparse.Namespace) -> int:
    del options
    require_root()
    facts = lab.Facts.load()
    for machine in plan.running(facts.phase):
        container = Container(machine)
        state = f"pid {container.init}" if container.running else "not running"
        say(f"{machine.name:16} {machine.address!s:12} {machine.kind:14} {state}")
    found = lab.complaints(facts.phase)
    say(f"phase {facts.phase}, inventory {lab.inventory_path()}")
    say("\n".join(found) or "healthy")
    return 1 if found else 0


def _faults(options: argparse.Namespace) -> int:
    del options
    for fault in faults.FAULTS:
        say(f"{'in force' if fault.active else '':9} {fault.name:22} {fault.summary}")
    return 0


def _break(options: argparse.Namespace) -> int:
    with lab.exclusive():
        faults.find(options.fault).break_()
    return 0


def _mend(options: argparse.Namespace) -> int:
    with lab.exclusive():
        faults.find(options.fault).mend()
    return 0


def _acceptance(options: argparse.Namespace) -> int:
    with lab.exclusive():
        return acceptance.run(chosen=options.fault, keep=options.keep)


def _plans(options: argparse.Namespace) -> int:
    with lab.exclusive():
        layer, folder = build().rke2, dirs.cache() / "plans"
        tofu_trial.make(folder, layer)
        wrong = tofu_trial.judge(folder, layer, *(["--record"] if options.record else []))
    say(
        "\n".join(wrong) or f"the right verdict on each of {len(CASES)} plans; they are in {folder}"
    )
    return 1 if wrong else 0


def _shell(options: argparse.Namespace) -> int:
    return _become([*Container(plan.find(options.machine)).enter(), "/bin/bash", "-l"])


def _exec(options: argparse.Namespace) -> int:
    command = _command(options.command)
    return _become([*Container(plan.find(options.machine)).enter(), *command])


def _run(options: argparse.Namespace) -> int:
    require_root()
    command = [*network.enter(network.CONTROLLER), *_command(options.command)]
    cgroups.enter("controller")
    return _become(command)


def _command(words: list[str]) -> list[str]:
    command = words[1:] if words[:1] == ["--"] else words
    if not command:
        raise LabError("name the command to run")
    return command


def _become(argv: list[str]) -> int:
    require_root()
    os.execvp(argv[0], argv)  # noqa: S606 the command takes this process's place, streams and all


_COMMANDS = {
    "build": _build,
    "up": _up,
    "down": _down,
    "status": _status,
    "faults": _faults,
    "break": _break,
    "mend": _mend,
    "acceptance": _acceptance,
    "shell": _shell,
    "exec": _exec,
    "plans": _plans,
    "run": _run,
}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
