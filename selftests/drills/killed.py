"""What the tests of killed runners share: which drill is how selected, and what is seen after."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab.phase import Phase
from selftests.drills.outliving import Outliving
from selftests.drills.runners import Kill, Runners

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selftests.session.suite import Ended

SELECTED = {
    "P2": "--gate=P1,P2",
    "C.5": "--gate=C.5",
    "C.6": "--gate=C.6",
    "F6-2": "--gate=P1,P2,P3,P4,F6-2",
    "F6-2R": "--gate=F6-2R",
    "F6-3": "--gate=P1,P2,P3,P4,F6-3",
    "G.4": "--gate=G.4",
    "G.9": "--gate=G.9",
    "W-1": "--gate=W-1",
    "W-2": "--gate=W-2",
}


@contextmanager
def lab_and_runners(
    folder: Path, *, phase: Phase = Phase.C, nodes: int = 3, **limits: float
) -> Iterator[tuple[Outliving, Runners]]:
    """A lab that outlives its runners, and what makes those."""
    (folder / "lab").mkdir()
    lab = Outliving(folder / "lab", phase=phase, nodes=nodes, **limits)
    with lab, Runners(lab, folder) as runners:
        yield lab, runners


def drill(runners: Runners, kill: Kill) -> Ended:
    """Run that drill, and end it so."""
    return runners.run(SELECTED[kill.gate], "--authorize=ada", kill=kill)


def kinds(runners: Runners, gate: str) -> dict[str, int]:
    """The kinds of step lines of a healthy run, each with the number of the first of its kind."""
    ended = runners.run(SELECTED[gate], "--authorize=ada")
    assert ended.status == 0, ended.text
    found: dict[str, int] = {}
    for number, title in enumerate(runners.titles(gate), start=1):
        found.setdefault(title, number)
    return found


def frozen(lab: Outliving, runners: Runners, *, reset: bool) -> None:
    """Each server is as the restore's last finished step left it, and stays so; so are the latches.

    `reset`: it was sent, whatever the log could still say of it.
    """
    changed = runners.servers()
    lab.hurry()
    time.sleep(0.2)
    assert lab.inside(lab.servers) == changed
    done = runners.titles("F6-3")
    latched = "latch: done" in done and "latch: cleared" not in done
    assert lab.inside(lab.latched) == (latched, latched and reset)
