"""Faults of what comes before the cluster: the controller's side."""

from __future__ import annotations

from typing import Final

from machines import controller, dirs, plan
from machines.fault import Fault

_SECOND: Final = plan.CONTROL_PLANES[1]
_TASKS: Final = "ansible/roles/rke2-server/tasks/main.yml"


def _dirty_checkout() -> None:
    with (dirs.state() / controller.INFRASTRUCTURE / _TASKS).open("a") as stream:
        stream.write("# a change that nobody reviewed\n")


def _reset_checkout(_: str) -> None:
    controller.git("reset", "--quiet", "--hard", "origin/main")


def _show_token() -> None:
    (dirs.state() / controller.NODE_TOKEN).chmod(0o644)


def _hide_token(_: str) -> None:
    (dirs.state() / controller.NODE_TOKEN).chmod(0o600)


def _forget_jump() -> None:
    controller.render_hosts(without_jump=_SECOND)


def _render_again(_: str) -> None:
    controller.render_hosts()


FAULTS: Final = (
    Fault(
        "checkout-dirty",
        "the infrastructure checkout has a change that is not committed",
        _dirty_checkout,
        _reset_checkout,
        phase=plan.Phase.ZERO,
    ),
    Fault(
        "token-readable",
        "the join token on the controller can be read by everybody",
        _show_token,
        _hide_token,
        phase=plan.Phase.ZERO,
    ),
    Fault(
        "jump-missing",
        f"the rendered inventory reaches {_SECOND.name} without the bastion",
        _forget_jump,
        _render_again,
        phase=plan.Phase.ZERO,
    ),
)
