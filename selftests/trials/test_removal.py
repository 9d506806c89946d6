"""What a trial made goes again, and only that; what does not go is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.verdicts import Undecided
from selftests.trials.cluster import RUN, Api

if TYPE_CHECKING:
    from fixtures.trials.trial import Trial

SPACE = f"rke2-acceptance-dns-{RUN.lower()}"
MAKE = f"make Namespace {SPACE}"
REMOVE = f"remove Namespace {SPACE}"


def begin(api: Api) -> Trial:
    trial = api.trial()
    trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    return trial


def test_a_namespace_whose_making_was_not_answered_is_found_by_its_label() -> None:
    api = Api(loses=("POST /api/v1/namespaces",))
    trial = api.trial()
    with pytest.raises(Undecided):
        trial.begin()
    assert api.objects
    trial.remove()
    assert api.objects == {}
    assert api.states(MAKE) == ["sending", "unknown"]
    assert api.states(REMOVE) == ["sending", "done"]


def test_what_was_never_made_is_looked_for_twice() -> None:
    api = Api(silent=("POST /api/v1/namespaces",))
    trial = api.trial()
    with pytest.raises(Undecided):
        trial.begin()
    trial.remove()
    assert api.lines[2:] == [f"GET /api/v1/namespaces/{SPACE}"] * 2


def test_a_namespace_of_that_name_that_is_not_ours_stays() -> None:
    api = Api(silent=("POST /api/v1/namespaces",))
    trial = api.trial()
    with pytest.raises(Undecided):
        trial.begin()
    api.namespace(SPACE, team="theirs")
    trial.remove()
    assert f"/api/v1/namespaces/{SPACE}" in api.objects


def test_one_that_somebody_made_anew_stays() -> None:
    api = Api()
    trial = begin(api)
    api.namespace(SPACE)
    trial.remove()
    assert f"/api/v1/namespaces/{SPACE}" in api.objects
    assert not any(line.startswith("DELETE") for line in api.lines)


def test_a_namespace_that_does_not_go_is_told_with_its_reason_and_how_to_remove_it() -> None:
    api = Api(lingers=None)
    trial = begin(api)
    item = api.objects[f"/api/v1/namespaces/{SPACE}"]
    message = "Discovery failed for some groups, 1 failing: metrics.k8s.io/v1beta1"
    item["status"] = {
        "conditions": [
            {"type": "NamespaceDeletionDiscoveryFailure", "status": "True", "message": message},
            {"type": "NamespaceContentRemaining", "status": "False", "message": "all gone"},
        ]
    }
    with pytest.raises(Undecided) as told:
        trial.remove()
    assert message in str(told.value)
    assert "all gone" not in str(told.value)
    assert f"kubectl delete namespace {SPACE}" in str(told.value)
    assert api.states(REMOVE) == ["sending", "failed"]
    assert 119 < api.now < 122


def test_a_removal_tries_again_over_a_new_connection() -> None:
    api = Api()
    trial = begin(api)
    api.silent = ("/namespaces",)
    looks = 0

    def forget() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            api.silent = ()

    trial.forget = forget
    trial.remove()
    assert api.objects == {}
    assert looks == 3


def test_a_deletion_that_was_not_answered_is_ordered_again() -> None:
    api = Api()
    trial = begin(api)
    api.silent = ("DELETE",)
    with pytest.raises(Undecided, match="its deletion has not begun; remove it by hand"):
        trial.remove()
    assert api.states(REMOVE) == ["sending", "failed"]
    assert sum(line.startswith("DELETE") for line in api.lines) > 100


def test_a_removal_that_nobody_answers_is_told() -> None:
    api = Api()
    trial = begin(api)
    api.silent = ("/namespaces",)
    with pytest.raises(Undecided, match="no answer within 20 s; remove it by hand"):
        trial.remove()
    assert api.forgotten > 1


def test_namespaces_of_a_tool_go_with_the_rest_and_others_stay() -> None:
    api = Api()
    api.namespace("cilium-test-1")
    api.namespace("cilium-secrets")
    trial = api.trial("D2.connectivity")
    trial.adopt("cilium connectivity test", "cilium-test-", within=1800.0)
    api.namespace("cilium-test-2")
    api.namespace("cilium-test-ccnp1")
    trial.remove()
    left = [each["metadata"]["name"] for each in api.objects.values()]
    assert sorted(each for each in left if each != "default") == ["cilium-secrets", "cilium-test-1"]
    assert api.states("adopt a tool's namespaces") == ["sending", "done"]


def test_what_is_left_of_a_tool_does_not_hide_what_is_left_of_ours() -> None:
    api = Api()
    trial = begin(api)
    trial.adopt("cilium connectivity test", "cilium-test-", within=1800.0)
    api.namespace("cilium-test-2")
    api.lingers = None
    with pytest.raises(Undecided) as told:
        trial.remove()
    assert "cilium-test-2" in str(told.value)
    assert SPACE in str(told.value)
    assert api.states("adopt a tool's namespaces") == ["sending"]
