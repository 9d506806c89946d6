"""`--lab`: starts the embedded lab for a run and plays the operator who applies the phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lab.child import Child

_CHILD: pytest.StashKey[Child] = pytest.StashKey()
_USAGE = 4


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the lab before anyone reads the inventory it writes."""
    option = config.option
    if not getattr(option, "lab", False) or hasattr(config, "workerinput"):
        return
    if option.collectonly or option.help or getattr(option, "version", 0):
        return
    from lab.child import Child, LabFailed  # noqa: PLC0415

    arguments = [
        f"--reports={option.reports}",
        f"--nodes={6 if option.lab_nodes is None else option.lab_nodes}",
        f"--rtt={option.lab_rtt or '0ms'}",
        *(f"--scenario={path}" for path in option.scenario),
    ]
    try:
        if option.plan:
            # A plan contacts nothing: the inventory alone says which hosts there would be.
            option.inventory = str(Child.describe(config.rootpath, arguments))
            return
        child = Child.start(config.rootpath, arguments)
    except LabFailed as error:
        pytest.exit(f"the lab did not start: {error}", returncode=_USAGE)
    config.stash[_CHILD] = child
    option.inventory = str(child.inventory)


# pytest looks for implementations only under names that begin with `pytest_`; `specname` says
# which hook is meant.
@pytest.hookimpl(specname="rke2_phase_starting", optionalhook=True)
def pytest_rke2_phase_starting(config: pytest.Config, phase: str) -> None:
    """Apply the phase in the lab, as the operator would have done by now."""
    child = config.stash.get(_CHILD, None)
    if child is not None:
        child.apply(phase)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the lab after everything that may still ask it."""
    child = config.stash.get(_CHILD, None)
    if child is not None:
        del config.stash[_CHILD]
        child.stop()
