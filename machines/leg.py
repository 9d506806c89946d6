"""The saved plan of the gateway's leg, on the bastion, as the runbook's F0 has it made there."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from machines import controller, plan, switch, tofu
from machines.console import step
from machines.container import Container
from machines.errors import LabError
from machines.tofu import LEG, Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from machines.tofu import Change

_BASTION: Final = Container(plan.BASTION)
_HOME: Final = f"/home/{plan.SSH_USER}"
_FOLDER: Final = f"{switch.FOLDER}/tofu"


def workspace() -> Workspace:
    """Where the operator runs OpenTofu.

    Raises:
        LabError: the bastion is not running.
    """
    enter = (*_BASTION.enter(), "runuser", "-u", plan.SSH_USER, "--")
    return Workspace(_BASTION.root / _FOLDER.lstrip("/"), enter, _FOLDER, _HOME)


def prepare() -> None:
    """Bring the VMs of the configuration about, and save the plan that adds the leg.

    Raises:
        LabError: Git or OpenTofu refuses.
    """
    with step("planning the gateway's leg"):
        place = workspace()
        place.write()
        _BASTION.write(f"{switch.FOLDER}/.gitignore", controller.IGNORED)
        owner = f"{plan.SSH_USER}:{plan.SSH_USER}"
        _BASTION.do("chown", "--recursive", owner, switch.FOLDER)
        switch.commit("Describe the VMs", ".gitignore", "tofu")
        _BASTION.do("install", "-d", f"--owner={plan.SSH_USER}", f"{_HOME}/bin")
        _BASTION.do("ln", "-sf", place.program, f"{_HOME}/bin/tofu")
        place.apply()
        save()


def save(more: Sequence[Change] = ()) -> None:
    """Save the plan of the reviewed change, and of more.

    Raises:
        LabError: OpenTofu refuses, or a change does not fit.
    """
    place = workspace()
    example = place.folder / f"{tofu.VARIABLES}.example"
    (place.folder / tofu.VARIABLES).write_text(example.read_text())
    tofu.change(place.folder, (LEG, *more))
    place.plan()


def digest() -> str:
    """The plan file's SHA-256.

    Raises:
        LabError: no plan was saved.
    """
    saved = workspace().folder / tofu.PRODUCTION / tofu.PLAN
    try:
        content = saved.read_bytes()
    except OSError as reason:
        raise LabError(f"{plan.BASTION.name}: no saved plan: {saved}: {reason.strerror}") from None
    return hashlib.sha256(content).hexdigest()
