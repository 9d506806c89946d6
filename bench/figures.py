"""What was measured, and how it reads beside the goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

GOAL_COMMAND = 2
GOAL_GATES = 12
GOAL_CONNECTIONS = 1
ROUND_TRIP = 0.010


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
    """One contestant: one command on a node; all read-only gates of C; bastion connections."""

    name: str
    command: Samples
    gates: Samples
    connections: list[int] = field(default_factory=list)


def table(figures: list[Figures]) -> str:
    """Medians, each beside its ratio to the first contestant, and the goals."""
    first = figures[0]
    rows = [
        _row("", [each.name for each in figures], "goal (suite)"),
        _timed("one command, +0 ms [ms]", [each.command.near for each in figures], ""),
        _timed("one command, +10 ms [ms]", [each.command.far for each in figures], ""),
        _row(
            "one command [round trips]",
            [f"{each.command.round_trips:.1f}" for each in figures],
            f"<= {GOAL_COMMAND}, and server time",
        ),
        _timed("gates of C, +0 ms [ms]", [each.gates.near for each in figures], ""),
        _timed("gates of C, +10 ms [ms]", [each.gates.far for each in figures], ""),
        _row(
            "gates of C [round trips]",
            [f"{each.gates.round_trips:.1f}" for each in figures],
            f"<= {GOAL_GATES}, connecting apart",
        ),
        _row(
            "bastion connections",
            [f"{max(each.connections)}" for each in figures],
            f"exactly {GOAL_CONNECTIONS}",
        ),
    ]
    return "\n".join([*rows, "", *_verdicts(first)])


def missed(suite: Figures) -> list[str]:
    """The goals that the suite's figures do not reach, rounded to half a round trip."""
    missing = []
    if round(suite.command.round_trips * 2) / 2 > GOAL_COMMAND:
        missing.append("round trips of one command")
    if round(suite.gates.round_trips * 2) / 2 > GOAL_GATES:
        missing.append("round trips of the gates of C")
    if set(suite.connections) != {GOAL_CONNECTIONS}:
        missing.append("bastion connections")
    return missing


def _verdicts(suite: Figures) -> list[str]:
    missing = missed(suite)
    return [f"goal missed: {name}" for name in missing] or ["every goal is reached"]


def _timed(label: str, samples: list[list[float]], goal: str) -> str:
    medians = [median(each) * 1000 for each in samples]
    cells = [f"{value:.0f} ({value / medians[0]:.1f}x)" for value in medians]
    return _row(label, cells, goal)


def _row(label: str, cells: list[str], goal: str) -> str:
    return f"{label:<28}" + "".join(f"{cell:>22}" for cell in cells) + f"   {goal}"
