"""A plan that F0.plan is tried on: how it differs from the reviewed one, and what is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from machines.tofu import LEG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from machines.tofu import Change


@dataclass(frozen=True, slots=True)
class Case:
    """One plan.

    Attributes:
        verdict: the right one.
        says: a text in its findings or, of a PASS, in what is recorded.
        more: changes beside the reviewed one, once the VMs are there.
        leg: whether the reviewed change is made at all.
        given: what of the configuration is otherwise from the start.
        arguments: more arguments of `tofu plan`.
        errors: planning ends with an error, and saves the plan all the same.
        damage: what becomes of the folder with the plan afterwards.
        builtin: the gateway is OpenTofu's own `terraform_data`: one attribute for everything.
    """

    name: str
    verdict: str
    says: str
    more: tuple[Change, ...] = ()
    leg: bool = True
    given: tuple[Change, ...] = ()
    arguments: tuple[str, ...] = ()
    errors: bool = False
    damage: Callable[[Path], None] | None = None
    builtin: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that is changed once the VMs are there, in order."""
        return (*((LEG,) if self.leg else ()), *self.more)
