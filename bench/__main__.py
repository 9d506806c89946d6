"""Measures the contestants side by side on the embedded lab and prints their figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from bench import calibrate
from bench.contestants import BenchError, Contestant, Suite, Testinfra
from bench.figures import ROUND_TRIP, Figures, Samples, table
from bench.stand import Stand, StandError, stand

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_CLIENT = (
    "testinfra's ssh and paramiko backends are not measured: both reach a node through the `ssh` "
    "command, and there is no OpenSSH client here"
)


def main() -> int:
    """Measure and print; 1 when a contestant was not answered."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="connections per figure")
    parser.add_argument("--commands", type=int, default=10, help="single commands per round")
    options = parser.parse_args()
    try:
        with stand(0.0) as near, stand(ROUND_TRIP) as far:
            figures = _measure({0.0: near, ROUND_TRIP: far}, options.rounds, options.commands)
    except (StandError, BenchError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(f"\nmedians of {options.rounds} rounds; in brackets: times the suite's\n")
    print(table(figures))
    return 0


def _contestants() -> dict[str, Callable[[Stand], Contestant]]:
    contestants: dict[str, Callable[[Stand], Contestant]] = {"this suite": Suite}
    if shutil.which("ssh"):
        contestants["testinfra ssh"] = partial(Testinfra, backend="ssh")
        contestants["testinfra paramiko"] = partial(Testinfra, backend="paramiko")
    else:
        print(_NO_CLIENT)
    return contestants


def _measure(stands: dict[float, Stand], rounds: int, commands: int) -> list[Figures]:
    """Rounds of all contestants in turn, so that a busy moment of the machine meets each."""
    contestants = _contestants()
    near, far = (calibrate.round_trip(built) for built in stands.values())
    print(f"one round trip: {near * 1000:.1f} ms near, {far * 1000:.1f} ms far")
    figures = {
        name: Figures(name, Samples(far - near), Samples(far - near)) for name in contestants
    }
    for number in range(1, rounds + 1):
        for round_trip, built in stands.items():
            print(f"round {number} of {rounds}, +{round_trip * 1000:.0f} ms", flush=True)
            for name, create in contestants.items():
                built.relay.take_connections()
                _round(create(built), figures[name], round_trip, commands)
                figures[name].connections.append(built.relay.take_connections())
    return list(figures.values())


def _round(contestant: Contestant, figures: Figures, round_trip: float, commands: int) -> None:
    try:
        contestant.connect()
        for _ in range(commands):
            figures.command.at(round_trip).append(_seconds(contestant.command))
        figures.gates.at(round_trip).append(_seconds(contestant.gates))
    finally:
        contestant.close()


def _seconds(action: Callable[[], None]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main())
