"""Faults of `cilium connectivity test`: what it finds, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.connectivity import SUITE
from lab.faults.registry import FaultError, fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lab.world import World


def _known(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if name not in SUITE and name != "*":
            raise FaultError(f"no connectivity test `{name}` in this lab ({', '.join(SUITE)})")
        yield name


@fault("connectivity-fails", "these connectivity tests fail")
def connectivity_fails(world: World, tests: list[str]) -> None:
    """The report lists them, rc 1."""
    world.connectivity.fails |= set(_known(tests))


@fault("connectivity-skips", "these connectivity tests are skipped by condition")
def connectivity_skips(world: World, tests: list[str]) -> None:
    """A feature that they need is not there."""
    world.connectivity.skips |= set(_known(tests))


@fault("connectivity-without", "these scenarios are left out of every connectivity test")
def connectivity_without(world: World, scenarios: list[str]) -> None:
    """Tests pass, and prove less."""
    world.connectivity.without |= set(scenarios)


@fault("connectivity-filtered", "a filter leaves out these connectivity tests, or all")
def connectivity_filtered(world: World, tests: list[str] | None = None) -> None:
    """All of nothing is successful, rc 0."""
    world.connectivity.filtered |= set(_known(tests or ["*"]))


@fault("connectivity-single-node", "the connectivity test takes the cluster for a single node")
def connectivity_single_node(world: World) -> None:
    """What crosses nodes is left out."""
    world.connectivity.one_node = True


@fault("connectivity-hangs", "the connectivity test never ends, once it is at this test")
def connectivity_hangs(world: World, test: str = "client-egress") -> None:
    """Until somebody ends it."""
    (world.connectivity.stuck,) = _known([test])


@fault("connectivity-killed", "the connectivity test is killed in mid-run, at this test")
def connectivity_killed(world: World, test: str = "client-egress") -> None:
    """Out of memory."""
    (world.connectivity.dies,) = _known([test])


@fault("connectivity-silent", "the connectivity test does not show what it tries")
def connectivity_silent(world: World) -> None:
    """As without --verbose."""
    world.connectivity.silent = True


@fault("connectivity-old", "the connectivity test's report has the form of long ago")
def connectivity_old(world: World) -> None:
    """It ends with rc 0."""
    world.connectivity.old = True


@fault("connectivity-retries", "a step of the connectivity test fails at first")
def connectivity_retries(world: World) -> None:
    """Signs of failure in a test that passes."""
    world.connectivity.hiccup = True
