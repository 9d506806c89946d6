"""What may be made to drift, and whether it was seen and healed: G.9."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.judge.drift import NEVER, Course, candidates, nothing_to_drift, why_not_edited
from fixtures.observe.answers import Unknown
from fixtures.observe.application import Application, Operation, Tracked
from fixtures.observe.managed import ConfigMap
from selftests.gates.test_application import APPLICATION, CLOCK, CLUSTER, NOW, SYNC

TRACKED = Tracked("", "v1", "ConfigMap", "platform", "settings")
RECORDED = ConfigMap("platform", "settings", "u", "7", (("a", "b"),), (("region", "gra"),))
EDITED = replace(RECORDED, data=(("region", "gra\n"),), version="8")
BEFORE = replace(APPLICATION, resources=(replace(TRACKED, sync="Synced"),))
LATER = NOW + timedelta(seconds=5)
SYNCING = Operation("Succeeded", "", LATER, LATER, "b610209", True, (TRACKED,))
HEALED = replace(BEFORE, operation=SYNCING)
OUT = replace(BEFORE, sync="OutOfSync", resources=(replace(TRACKED, sync="OutOfSync"),))
BACK = replace(RECORDED, version="9")


def course(before: Application = BEFORE) -> Course:
    return Course(before, RECORDED, TRACKED)


def test_drift_that_is_seen_healed_and_told_passes() -> None:
    ours = course()
    assert ours.see(OUT, EDITED)
    assert ours.see(HEALED, BACK) == ()
    ours.proved()


@pytest.mark.parametrize(
    ("application", "item", "says"),
    [
        (OUT, EDITED, "still differs"),
        (OUT, BACK, "is `OutOfSync`"),
        (BEFORE, EDITED, "drift was not seen"),
        (HEALED, None, "is gone"),
        (HEALED, EDITED, "still differs"),
        (HEALED, replace(BACK, labels=()), "still differs"),
        (HEALED, replace(BACK, uid="v"), "is another one now"),
        (BEFORE, RECORDED, "no newer operation"),
        (None, RECORDED, "root is gone"),
        (replace(HEALED, operation=None), BACK, "no operation tells"),
        (replace(HEALED, operation=replace(SYNCING, started=None)), BACK, "no operation tells"),
        (replace(HEALED, operation=replace(SYNCING, automated=False)), BACK, "begun by somebody"),
        (replace(HEALED, operation=replace(SYNCING, resources=())), BACK, "does not name"),
        (replace(HEALED, operation=replace(SYNCING, phase="Running")), BACK, "is `Running`"),
        (replace(HEALED, operation=replace(SYNCING, phase="Failed")), BACK, "is `Failed`"),
        (replace(HEALED, operation=replace(SYNCING, finished=None)), BACK, "is `Succeeded`"),
        # Of an object of the same name elsewhere.
        *(
            (replace(HEALED, operation=replace(SYNCING, resources=(other,))), BACK, "does not name")
            for other in (
                replace(TRACKED, namespace="default"),
                replace(TRACKED, name="settings2"),
                replace(TRACKED, kind="Secret"),
                replace(TRACKED, group="apps"),
            )
        ),
    ],
)
def test_drift_that_is_not_healed_or_not_told_does_not(
    application: Application | None, item: ConfigMap | None, says: str
) -> None:
    assert says in "; ".join(course().see(application, item))


@pytest.mark.parametrize(
    ("before", "newer"),
    [
        (None, True),
        (SYNC, True),
        # In the same second, and another one.
        (replace(SYNCING, resources=(), automated=False), True),
        (replace(SYNCING, started=None), True),
        (SYNCING, False),
        # It ran when the edit was made, and ended later.
        (replace(SYNCING, phase="Running", finished=None), False),
        (replace(SYNCING, phase="Running", finished=None, resources=()), False),
        # An operation that began earlier than the last one is not newer, whatever it says.
        (replace(SYNCING, started=LATER + timedelta(seconds=1)), False),
    ],
)
def test_only_a_newer_operation_tells_of_it(before: Operation | None, newer: bool) -> None:
    found = course(replace(BEFORE, operation=before)).see(HEALED, BACK)
    assert (found == ()) is newer, found


def test_drift_of_another_object_is_not_this_one_s() -> None:
    ours = course()
    other = replace(TRACKED, name="other", sync="OutOfSync")
    ours.see(replace(BEFORE, sync="OutOfSync", resources=(TRACKED, other)), EDITED)
    assert ours.see(HEALED, BACK) == ()
    with pytest.raises(Undecided, match="never seen"):
        ours.proved()


def test_the_drill_is_deferred_only_where_nothing_is_managed_and_that_was_just_compared() -> None:
    assert "0 resources" in nothing_to_drift(APPLICATION, CLUSTER, CLOCK)
    assert nothing_to_drift(BEFORE, CLUSTER, Unknown("silent")) == ""
    for changes, clock in (
        ({"sync": "Unknown"}, CLOCK),
        ({"sync": "OutOfSync"}, CLOCK),
        ({"sync": ""}, CLOCK),
        ({"reconciled": None}, CLOCK),
        ({"reconciled": NOW - timedelta(hours=1)}, CLOCK),
        ({}, Unknown("silent")),
        # Nothing of Git's is in another place than Git's.
        ({"path": "kubernetes/empty"}, CLOCK),
        ({"target": "an-empty-branch"}, CLOCK),
        ({"revision": ""}, CLOCK),
        ({"deleting": NOW}, CLOCK),
        ({"conditions": (("ComparisonError", "no such path"),)}, CLOCK),
    ):
        seen: Any = replace(APPLICATION, **changes)  # type: ignore[arg-type]
        with pytest.raises(Undecided):
            nothing_to_drift(seen, CLUSTER, clock)


NAMES = st.sampled_from(["platform", "argocd", "kube-system", "kube-public", "cilium-secrets", ""])
KINDS = st.sampled_from(["ConfigMap", "Deployment", *sorted(NEVER)])


@given(
    st.lists(
        st.builds(
            Tracked,
            st.sampled_from(["", "apps"]),
            st.just("v1"),
            KINDS,
            NAMES,
            st.sampled_from(["settings", "kube-root-ca.crt"]),
        ),
        max_size=6,
    )
)
def test_nothing_but_a_config_map_of_the_platform_is_ever_changed(rows: list[Tracked]) -> None:
    try:
        found = candidates(replace(BEFORE, resources=tuple(rows)), CLUSTER)
    except Undecided:
        found = ()
    assert found == tuple(row for row in rows if row == TRACKED)


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (None, "is not there"),
        (replace(RECORDED, data=()), "has no data"),
        (replace(RECORDED, immutable=True), "is immutable"),
        (RECORDED, ""),
    ],
)
def test_which_config_map_can_be_edited(item: ConfigMap | None, says: str) -> None:
    why = why_not_edited(item, "settings")
    assert says in why
    assert bool(why) is bool(says)
