"""`python -m lab`: the embedded lab alone, in the foreground; its faults; the runner's child."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab import serving
from lab.faults import FAULTS
from lab.phase import Phase
from lab.scenario import load
from lab.server import Lab, Settings, milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

USAGE = 4


class _Parser(argparse.ArgumentParser):
    """Mistakes end with the suite's status for them."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"lab: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "faults":
        return _faults()
    try:
        lab = Lab(_settings(options))
    except OSError as error:
        return _mistaken(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ValueError as error:
        return _mistaken(str(error))
    if options.command == "describe":
        serving.say({"inventory": str(lab.describe().resolve())})
        return 0
    if options.command == "serve":
        return asyncio.run(serving.for_a_runner(lab))
    return asyncio.run(serving.in_the_foreground(lab))


def _mistaken(why: str) -> int:
    sys.stderr.write(f"lab: {why}\n")
    return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m lab", description=__doc__)
    parser.add_argument(
        "command",
        nargs="?",
        choices=("run", "serve", "describe", "faults"),
        default="run",
        help="run: in the foreground; serve: as a runner's child; describe: write the inventory "
        "of a lab that is not started; faults: list what can be broken",
    )
    parser.add_argument("--reports", default="reports", help="reports folder (default: reports)")
    parser.add_argument("--scenario", action="append", default=[], help="scenario file; repeatable")
    parser.add_argument("--rtt", default="0ms", help="round-trip time to add, as in 10ms")
    parser.add_argument("--nodes", type=int, default=6, help="nodes in all (default: 6)")
    parser.add_argument("--phase", help="how far the cluster is applied: 0 b c f6 e d d2 w f g")
    parser.add_argument(
        "--control", action="store_true", help="serve: orders come on stdin (always so)"
    )
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        reports=Path(options.reports),
        scenarios=tuple(load(Path(path)) for path in options.scenario),
        nodes=options.nodes,
        phase=Phase.named(options.phase) if options.phase else None,
        rtt=milliseconds(options.rtt),
    )


def _faults() -> int:
    for name, fault in sorted(FAULTS.items()):
        sys.stdout.write(f"{name}: {fault.parameters}\n    {fault.summary}\n")
    return 0


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # `python -m lab faults | head` is no mistake.
        status = 0
    # Nothing is left to do; threads that still read or import must not hold the exit up.
    os._exit(status)
