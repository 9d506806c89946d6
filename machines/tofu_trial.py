"""Every plan of `tofu_cases` made by OpenTofu, and judged by the suite."""

from __future__ import annotations

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from machines import commands, dirs, tofu
from machines.tofu import Workspace
from machines.tofu_cases import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from machines.tofu import Change
    from machines.tofu_case import Case

_AT_ONCE: Final = 2


def make(folder: Path, root: Path) -> None:
    """Make the plan of each case in a folder of its name.

    Args:
        folder: where; what was there goes.
        root: the built layer, which has OpenTofu.

    Raises:
        LabError: OpenTofu does not plan as it must.
    """
    shutil.rmtree(folder, ignore_errors=True)
    dirs.make_private(folder)
    begun: dict[tuple[Change, ...], Workspace] = {}
    for number, given in enumerate(dict.fromkeys(case.given for case in CASES)):
        begun[given] = Workspace.here(folder / f".begun-{number}", root)

    def begin(given: tuple[Change, ...]) -> None:
        workspace = begun[given]
        workspace.write()
        tofu.change(workspace.folder, given)
        workspace.apply()

    def plan(case: Case) -> None:
        workspace = begun[case.given].copied(folder / case.name)
        tofu.change(workspace.folder, case.changes)
        workspace.plan(*case.arguments, errors=case.errors)
        if case.damage:
            case.damage(workspace.folder / tofu.PRODUCTION)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(begin, begun))
        list(pool.map(plan, CASES))


def judge(folder: Path, root: Path, *arguments: str) -> list[str]:
    """What is wrong with the suite's verdicts on the plans that `make` made; empty when nothing is.

    The suite's own code judges, in a process of its own: the lab knows nothing of it.

    Raises:
        LabError: it could not.
    """
    # As where an operator's settings have gone: OpenTofu then warns, whatever it is asked.
    env = {**os.environ, "TF_CLI_CONFIG_FILE": "/nonexistent/.tofurc"}
    helper = [sys.executable, "-m", "selftests.machines.judged", str(folder), str(root)]
    said = commands.run([*helper, *arguments], cwd=dirs.CHECKOUT, env=env).stdout
    found: list[str] = json.loads(said)
    return found
