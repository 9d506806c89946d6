"""How far the runbook has been applied in the lab."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The runbook's phases in their executable order; a world at a phase has all earlier ones."""

    ZERO = "0"
    B = "b"
    C = "c"
    F6 = "f6"
    E = "e"
    D = "d"
    D2 = "d2"
    W = "w"
    F = "f"
    G = "g"

    @property
    def position(self) -> int:
        """Place in the executable order, from 0."""
        return list(Phase).index(self)

    def reached(self, other: Phase) -> bool:
        """Whether a world at this phase has `other` applied."""
        return self.position >= other.position

    @classmethod
    def named(cls, text: str) -> Phase:
        """The phase of that name, in any case.

        Raises:
            ValueError: no such phase.
        """
        try:
            return cls(text.strip().lower())
        except ValueError:
            names = " ".join(phase.value for phase in cls)
            raise ValueError(f"no phase `{text}`; the phases are {names}") from None
