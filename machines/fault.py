"""What a fault of the running lab is: it breaks one thing for good, and mends it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from machines import dirs, lab, plan
from machines.console import say
from machines.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        inject: brings it about and waits until it shows.
        undo: mends it, also if `inject` got only half way; is given what `remember` returned.
        remember: what `undo` must know, read before anything is changed.
        phase: how far the lab must be applied for it.
    """

    name: str
    summary: str
    inject: Callable[[], None]
    undo: Callable[[str], None]
    remember: Callable[[], str] = str
    phase: plan.Phase = plan.Phase.C

    @property
    def _record(self) -> Path:
        return dirs.state() / "faults" / self.name

    @property
    def active(self) -> bool:
        """Whether it is in force."""
        return self._record.exists()

    def break_(self) -> None:
        """Bring the fault about, and wait until it shows.

        Raises:
            LabError: it is in force already, the lab is not up at its phase, or it does not show.
        """
        if not lab.Facts.load().phase.reaches(self.phase):
            raise LabError(
                f"{self.name} needs more than is applied: `python -m machines up --phase "
                f"{self.phase}`"
            )
        if self.active:
            raise LabError(f"{self.name} is in force: `python -m machines mend {self.name}`")
        dirs.make_private(self._record.parent)
        dirs.write_private(self._record, self.remember())
        self.inject()

    def mend(self) -> None:
        """Undo the fault and wait until the machine has recovered. Fine when not in force.

        Raises:
            LabError: it does not recover; the text has the journal.
        """
        if not self.active:
            say(f"{self.name} is not in force")
            return
        self.undo(self._record.read_text())
        self._record.unlink()
