"""What was measured, and how it reads beside the goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

GOAL_COMMAND = 2
GOAL_QUORUM = 12
GOAL_VALIDATION = 12
GOAL_CONNECTIONS = 1
GOAL_STATE = 2.0
GOAL_EVERY_NODE = 4.0
ROUND_TRIP = 0.010

SUITE = "this suite"
ACTIONS = {
    "command": "one command",
    "quorum": "read-only gates of C",
    "state": "what the API answers to D2",
    "every_node": "every node logged in to",
    "whole": "read-only gates of D2",
    "cold state": "the same API answers, from nothing",
    "cold every_node": "the same logins, from nothing",
}
"""What is timed: the contestants' methods on what is connected already; `cold` ones from the start
of a process to its end, logging in included, as somebody waits for them."""

GROWTH = {"cold state": GOAL_STATE, "cold every_node": GOAL_EVERY_NODE}
"""How many times as long the largest cluster may take as the smallest."""


@dataclass
class Samples:
    """Seconds at no added round-trip time, and at `ROUND_TRIP`.

    Attributes:
        added: what a round trip really takes longer in `far`, measured.
    """

    added: float = ROUND_TRIP
    near: list[float] = field(default_factory=list)
    far: list[float] = field(default_factory=list)

    def at(self, round_trip: float) -> list[float]:
        """The list to add to while that much is added to each round trip."""
        return self.far if round_trip else self.near

    @property
    def round_trips(self) -> float:
        """How many round trips the added time stands for, from the medians."""
        return (median(self.far) - median(self.near)) / self.added


@dataclass
class Figures:
    """One contestant on a cluster of one size.

    Attributes:
        samples: by what was timed.
        connections: to the bastion, a turn.
        mib: peak memory, a turn.
    """

    name: str
    added: float = ROUND_TRIP
    samples: dict[str, Samples] = field(default_factory=dict)
    connections: list[int] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)

    def of(self, action: str) -> Samples:
        """The samples of that action."""
        return self.samples.setdefault(action, Samples(self.added))


def table(nodes: int, figures: list[Figures]) -> str:
    """Medians on that many nodes, each with its ratio to the first contestant's."""
    rows = [_row(f"{nodes} nodes", [each.name for each in figures])]
    for action, told in ACTIONS.items():
        for name in ("near", "far"):
            timed = [
                median(found) if (found := getattr(each.of(action), name)) else None
                for each in figures
            ]
            if any(each is not None for each in timed):
                delay = "+0 ms" if name == "near" else f"+{ROUND_TRIP * 1000:.0f} ms"
                cells = [_ratio(each, timed[0]) for each in timed]
                rows.append(_row(f"{told}, {delay} [ms]", cells))
        if all(each.of(action).near and each.of(action).far for each in figures[:1]):
            trips = [
                f"{each.of(action).round_trips:.1f}" if each.of(action).far else "-"
                for each in figures
            ]
            rows.append(_row(f"{told} [round trips]", trips))
    rows.append(_row("bastion connections", [str(max(each.connections)) for each in figures]))
    memory = [median(each.mib) for each in figures]
    rows.append(_row("peak memory [MiB]", [_ratio(each, memory[0], 1) for each in memory]))
    return "\n".join(rows)


def missed(sizes: dict[int, Figures]) -> list[str]:
    """The goals that the suite's figures do not reach; round trips to half a one.

    Args:
        sizes: the suite's own figures by number of nodes.
    """
    smallest, largest = sizes[min(sizes)], sizes[max(sizes)]
    goals = {"command": GOAL_COMMAND, "quorum": GOAL_QUORUM, "whole": GOAL_VALIDATION}
    missing = [
        f"round trips of {ACTIONS[action]}: at most {goal}"
        for action, goal in goals.items()
        if round(smallest.of(action).round_trips * 2) / 2 > goal
    ]
    for action, goal in GROWTH.items():
        if len(sizes) > 1 and (grown := growth(smallest, largest, action)) > goal:
            missing.append(
                f"{max(sizes)} nodes for {ACTIONS[action]}: {grown:.1f} times {min(sizes)} nodes, "
                f"at most {goal:g}"
            )
    if any(set(each.connections) != {GOAL_CONNECTIONS} for each in sizes.values()):
        missing.append(f"bastion connections: exactly {GOAL_CONNECTIONS}")
    return missing


def growth(smallest: Figures, largest: Figures, action: str) -> float:
    """How many times as long the larger cluster takes, with a round trip of `ROUND_TRIP`."""
    return median(largest.of(action).far) / median(smallest.of(action).far)


def _ratio(value: float | None, first: float | None, scale: float = 1000) -> str:
    if value is None or first is None:
        return "-"
    return f"{value * scale:.0f} ({value / first:.1f}x)"


def _row(label: str, cells: list[str]) -> str:
    return f"{label:<42}" + "".join(f"{cell:>23}" for cell in cells)
