"""Measures the contestants side by side on the embedded lab and prints their figures."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import calibrate, opening
from bench.contestants import CONTESTANTS, BenchError
from bench.figures import ACTIONS, GROWTH, ROUND_TRIP, SUITE, Figures, growth, missed, table
from bench.stand import Stand, StandError, stand

if TYPE_CHECKING:
    from bench.relay import RelayProcess

_SIZES = (6, 24, 100)
_COMMANDS = 5


def main() -> int:
    """Measure and print; 1 when a contestant was not answered or the suite misses a goal."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="turns of each (larger sizes: 1)")
    parser.add_argument("--pages", action="store_true", help="only the apply log's page")
    parser.add_argument("--nodes", type=int, nargs="+", default=_SIZES, help="cluster sizes")
    options = parser.parse_args()
    if options.pages:
        return _ended(_pages())
    sizes: dict[int, list[Figures]] = {}
    try:
        for nodes in options.nodes:
            rounds = options.rounds if nodes == min(options.nodes) else 1
            sizes[nodes] = _measure(nodes, rounds)
    except (StandError, BenchError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print("\nmedians; in brackets: times the suite's\n")
    for nodes, figures in sizes.items():
        print(f"{table(nodes, figures)}\n")
    _tell_growth(sizes)
    missing = missed({nodes: figures[0] for nodes, figures in sizes.items()})
    missing += _pages()
    return _ended(missing)


def _ended(missing: list[str]) -> int:
    for goal in missing:
        print(f"goal missed: {goal}")
    if not missing:
        print("every goal is reached")
    return 1 if missing else 0


def _pages() -> list[str]:
    """Open the pages of a short log and a long one; the goals that the long one misses."""
    pages = opening.measured()
    if pages is None:
        print("apply-log.html is not opened: chromium is not installed")
        return []
    few, many = pages
    print("\n".join(opening.told(few, many)))
    return opening.missed(many)


def _tell_growth(sizes: dict[int, list[Figures]]) -> None:
    """How each contestant grows with the cluster."""
    if len(sizes) < 2:
        return
    smallest, largest = sizes[min(sizes)], sizes[max(sizes)]
    for action in GROWTH:
        grown = ", ".join(
            f"{small.name} {growth(small, large, action):.1f}x"
            for small, large in zip(smallest, largest, strict=True)
        )
        print(f"{ACTIONS[action]}, {max(sizes)} nodes instead of {min(sizes)}: {grown}")


def _contestants() -> list[str]:
    found = [SUITE]
    if shutil.which("ssh") is None:
        print("only the suite is measured: the others reach a node through the `ssh` command")
        return found
    found += [name for name in CONTESTANTS if name not in (SUITE, "ansible")]
    if Path(sys.executable).with_name("ansible").exists():
        found.append("ansible")
    else:
        print("ansible is not measured: `make bench` installs it, this interpreter has none")
    return found


def _measure(nodes: int, rounds: int) -> list[Figures]:
    """Turns of all contestants one after the other, so that a busy moment meets each."""
    with stand(nodes, 0.0) as near, stand(nodes, ROUND_TRIP) as far:
        delays = [calibrate.round_trip(built) for built, _ in (near, far)]
        added = delays[1] - delays[0]
        print(
            f"{nodes} nodes; one round trip: {delays[0] * 1000:.1f} and {delays[1] * 1000:.1f} ms"
        )
        figures = {name: Figures(name, added) for name in _contestants()}
        for number in range(1, rounds + 1):
            for round_trip, (built, relay) in ((0.0, near), (ROUND_TRIP, far)):
                print(f"  round {number} of {rounds}, +{round_trip * 1000:.0f} ms", flush=True)
                for each in figures.values():
                    _turn(built, relay, each, round_trip)
    return list(figures.values())


def _turn(built: Stand, relay: RelayProcess, figures: Figures, round_trip: float) -> None:
    actions = [*["command"] * _COMMANDS, "quorum", "state", "every_node"]
    if figures.name == SUITE:
        actions.append("whole")
    relay.take_connections()
    answer = _ran(built, figures.name, actions)
    for action, seconds in answer["seconds"].items():
        figures.of(action).at(round_trip).extend(seconds)
    figures.mib.append(answer["mib"])
    figures.connections.append(relay.take_connections())
    for cold in GROWTH:
        started = time.perf_counter()
        _ran(built, figures.name, ["--cold", cold.removeprefix("cold ")])
        figures.of(cold).at(round_trip).append(time.perf_counter() - started)


def _ran(built: Stand, name: str, words: list[str]) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "bench.turn", name, str(built.inventory), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise BenchError(f"{name}: {ended.stderr.strip()[-600:]}")
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


if __name__ == "__main__":
    raise SystemExit(main())
