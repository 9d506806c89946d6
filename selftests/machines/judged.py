"""Judges the plans that `machines/tofu_trial.py` made, by the suite's own code and real commands.

`python -m selftests.machines.judged FOLDER LAYER [--record]` prints a list of what is wrong with
the verdicts, and with the recordings of the selftests; or writes those.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.remote import controller
from machines import tofu
from machines.tofu_cases import CASES
from selftests.gates import real_plans

if TYPE_CHECKING:
    from fixtures.core.requests import HostCommand, Output
    from machines.tofu_case import Case

_CAP = 1 << 24


def judged(case: Case, folder: Path, layer: Path, *, record: bool) -> list[str]:
    """What is wrong with one plan's verdict or recording."""
    workspace = tofu.Workspace.here(folder / case.name, layer)
    about = real_plans.cluster(case, workspace.production, workspace.program)
    outputs: dict[HostCommand, Output] = {}

    def run(request: HostCommand) -> Output:
        outputs[request] = controller.run(request, _CAP)
        return outputs[request]

    verdict, said = real_plans.decided(about, run)
    found = []
    if verdict != case.verdict or case.says not in said:
        found.append(
            f"{case.name} is {verdict}, expected {case.verdict} with {case.says!r}: {said}"
        )
    if tofu.PASSWORD in said:
        found.append(f"{case.name}: the password of the hypervisor is shown")
    path = real_plans.FOLDER / f"{case.name}.json"
    text = real_plans.recorded(list(outputs.values()), workspace.production)
    if record:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        found.append(f"{case.name}: what OpenTofu tells is not what {path.name} has")
    return found


def main(folder: Path, layer: Path, *, record: bool) -> None:
    """Judge all of them, two at once."""
    if record:
        for path in real_plans.FOLDER.glob("*.json"):
            path.unlink()
    with ThreadPoolExecutor(2) as pool:
        every = pool.map(lambda case: judged(case, folder, layer, record=record), CASES)
        print(json.dumps([line for found in every for line in found]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), record="--record" in sys.argv)
