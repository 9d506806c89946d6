"""0.6: each VM has its snapshot, whole, and from before the first start."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.clock import Skew
from fixtures.core.inventory import Cluster, ProxmoxNode, Vm
from fixtures.core.statements import Statement
from fixtures.core.verdicts import Undecided
from fixtures.judge.vm_snapshots import names_the_rest, old_enough, recorded
from fixtures.observe.answers import Unknown
from fixtures.observe.first_start import FirstStart
from fixtures.observe.proxmox import Detail, Snapshots, VmSnapshots
from selftests.gates.world import wetopi

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "pre-rke2-apply"
STARTED = datetime(2026, 8, 30, 1, 0, tzinfo=UTC)
CLUSTER = wetopi()
LIMITS = CLUSTER.limits
EXACT = Skew(0.0, 0.0)
WHY = Unknown("no answer")


def vm(minutes: float = -60, **change: Any) -> VmSnapshots:
    """A VM whose snapshot is so many minutes younger than the first start."""
    good = VmSnapshots(
        machine="rke-cp01",
        vm=Vm("ns1", 8011),
        names=("before", NAME),
        detail=Detail(STARTED + timedelta(minutes=minutes), ""),
        clock=EXACT,
    )
    return replace(good, **change)


def started(**change: Any) -> FirstStart:
    good = FirstStart("rke-cp01", STARTED, STARTED + timedelta(minutes=2), EXACT)
    return replace(good, **change)


def judged(one: VmSnapshots, first: FirstStart | None = None) -> str:
    return "; ".join(old_enough(Snapshots(NAME, (one,), first or started()), LIMITS))


def undecided(one: VmSnapshots, first: FirstStart | None = None) -> str:
    with pytest.raises(Undecided) as caught:
        judged(one, first)
    return str(caught.value)


def test_an_older_whole_snapshot_is_good() -> None:
    assert judged(vm()) == ""


@pytest.mark.parametrize(
    "names", [(), (f"{NAME}-2",), (NAME.upper(),), ("x" + NAME,), (NAME[:-1],)]
)
def test_only_the_very_name_counts(names: tuple[str, ...]) -> None:
    said = judged(vm(names=names))
    assert f"rke-cp01 (VM 8011 on ns1) has no snapshot {NAME}" in said
    assert "tell the lead" in said


def test_before_the_first_start_the_next_step_is_to_take_it() -> None:
    before = started(folder=None, cluster=WHY, clock=WHY)
    assert judged(vm(), before) == ""
    said = judged(vm(names=()), before)
    assert "nor any other" in said
    assert f"`qm snapshot 8011 {NAME}` on ns1 before phase B" in said


@pytest.mark.parametrize("state", ["prepare", "delete"])
def test_what_was_cut_short_is_no_snapshot(state: str) -> None:
    said = judged(vm(detail=Detail(STARTED - timedelta(hours=1), state)))
    assert f"is not whole (snapstate `{state}`)" in said


def test_a_younger_one_is_a_known_no_whatever_else_is_not_known() -> None:
    assert "had started on rke-cp01 by 2026-08-30T01:00:00Z" in judged(vm(5))
    assert "by 2026-08-30T01:00:00Z" in judged(vm(5), started(cluster=WHY))
    assert "by 2026-08-30T01:02:00Z" in judged(vm(5), started(folder=WHY))


def test_seconds_that_are_too_close_prove_no_order() -> None:
    limit = LIMITS.clock_skew + 1
    for seconds in (-limit, 0.0, limit):
        assert "too close" in undecided(vm(seconds / 60))
    assert judged(vm((-limit - 1) / 60)) == ""
    assert judged(vm((limit + 1) / 60)) != ""


@pytest.mark.parametrize(
    ("one", "first"),
    [
        (vm(names=WHY), started()),
        (vm(detail=WHY), started()),
        (vm(clock=WHY), started()),
        (vm(), started(clock=WHY)),
        (vm(), started(folder=WHY)),
        (vm(), started(cluster=WHY)),
        (vm(), started(folder=WHY, cluster=WHY)),
    ],
)
def test_what_is_not_known_is_not_green(one: VmSnapshots, first: FirstStart) -> None:
    assert undecided(one, first) == "no answer"


def test_clocks_that_differ_compare_nothing() -> None:
    ahead = LIMITS.clock_skew + 1
    assert "differ by 3.0 s" in undecided(vm(clock=Skew(ahead, 0.1)))
    assert "differ by 3.0 s" in undecided(vm(5, clock=Skew(-ahead, 0.1)))
    # Both may be wrong by as much, as long as they agree.
    assert judged(vm(clock=Skew(90.0, 0.1)), started(clock=Skew(90.5, 0.1))) == ""
    # A slow answer does not make a clock wrong.
    assert judged(vm(clock=Skew(ahead, 1.5))) == ""


def test_a_machine_made_anew_does_not_make_a_snapshot_older() -> None:
    anew = started(folder=STARTED + timedelta(days=9))
    assert "order not proved" in undecided(vm(), anew)
    assert "by 2026-08-30T01:02:00Z" in judged(vm(60), anew)


def test_one_unknown_hides_no_other_ones_fault() -> None:
    seen = Snapshots(NAME, (vm(names=WHY), vm(machine="rke-cp02", names=())), started())
    (said,) = old_enough(seen, LIMITS)
    assert said.startswith("rke-cp02")


def with_access(*nodes: str) -> Cluster:
    return replace(
        CLUSTER, proxmox=tuple(ProxmoxNode(name, "192.0.2.1", 22, "root") for name in nodes)
    )


def saying(text: str) -> Callable[[], Statement]:
    return lambda: Statement("0.6", text, "ada", "now")


def nobody() -> Statement:
    raise Undecided("nobody has stated it")


ALL = "8001, 8011, 8012, 8013, 8021, 8022, 8023 and 8031."
EVERYWHERE = sorted({vm.proxmox_node for vm in CLUSTER.vms.values() if vm})


def test_wetopis_inventory_gives_no_access_and_knows_all_eight() -> None:
    assert len(CLUSTER.vms_without_access) == 8
    assert None not in CLUSTER.vms.values()
    assert names_the_rest(saying(ALL), CLUSTER) == ()
    assert names_the_rest(saying(" ".join(CLUSTER.vms)), CLUSTER) == ()


@pytest.mark.parametrize(
    "text", [ALL.replace("8031", "80311"), ALL.replace("8031", "VM8031"), ALL.replace("8031", "")]
)
def test_a_statement_names_every_vm_that_is_not_asked_for(text: str) -> None:
    with pytest.raises(Undecided, match=r"does not name wetopi-natgw01:"):
        names_the_rest(saying(text), CLUSTER)


def test_without_a_statement_the_vms_that_need_one_are_named() -> None:
    with pytest.raises(Undecided, match=r"^rke-cp02: no access .*nobody has stated it"):
        names_the_rest(nobody, with_access(*(each for each in EVERYWHERE if each != "ns3226939")))


def test_with_access_to_every_vm_nothing_is_stated() -> None:
    assert names_the_rest(nobody, with_access(*EVERYWHERE)) == ()


def test_a_vm_of_which_nothing_is_known_is_stated_by_name() -> None:
    gateway = CLUSTER.gateway
    assert gateway is not None
    cluster = replace(with_access(*EVERYWHERE), gateway=replace(gateway, vm=None))
    assert cluster.vms_without_access == ("wetopi-natgw01",)
    assert names_the_rest(saying("wetopi-natgw01: seen"), cluster) == ()


def test_the_record_says_what_was_asked_for() -> None:
    seen = Snapshots(NAME, (vm(), vm(machine="rke-cp02", detail=WHY)), started())
    said = recorded(seen, with_access(*(each for each in EVERYWHERE if each != "ns3226939")))
    assert said["rke-cp01"] == "2026-08-30T00:00:00Z"
    assert said["rke-cp02"] == "not asked for: no access"
