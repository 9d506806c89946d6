"""What a trial makes is recorded before it is sent, is its run's own, and goes again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fixtures.core.requests import KubeChange
from fixtures.core.verdicts import Undecided
from selftests.trials.cluster import RUN, Api, running

SPACE = f"rke2-acceptance-dns-{RUN.lower()}"
POD = f"rke2-dns-check-{RUN.lower()}"
MAKE = f"make Namespace {SPACE}"
REMOVE = f"remove Namespace {SPACE}"


def begin(api: Api) -> Any:
    trial = api.trial()
    trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    return trial


def posted(api: Api) -> list[dict[str, Any]]:
    return [
        json.loads(each.body or "")
        for each in api.sent
        if isinstance(each, KubeChange) and each.method == "POST"
    ]


def test_everything_carries_labels_and_a_name_of_its_run() -> None:
    api = Api()
    trial = begin(api)
    assert [each["metadata"]["name"] for each in posted(api)] == [SPACE, POD]
    for each in posted(api):
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/managed-by"] == "rke2-acceptance"
        assert labels["rke2-acceptance/run"] == RUN
    trial.remove()
    assert api.objects == {}


def test_an_api_that_cannot_be_asked_is_told_to_make_nothing() -> None:
    api = Api(silent=(f"GET /api/v1/namespaces/{SPACE}",))
    trial = api.trial()
    with pytest.raises(Undecided):
        trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    assert posted(api) == []
    trial.remove()
    assert api.log == []
    assert len(api.sent) == 1


def test_a_pod_is_small_harmless_and_mortal() -> None:
    api = Api()
    begin(api)
    spec = posted(api)[1]["spec"]
    assert spec["restartPolicy"] == "Never"
    assert spec["automountServiceAccountToken"] is False
    assert spec["terminationGracePeriodSeconds"] == 1
    assert spec["activeDeadlineSeconds"] == 900
    assert "tolerations" not in spec
    assert "nodeSelector" not in spec
    (container,) = spec["containers"]
    assert container["command"] == ["sleep", "900"]
    assert container["image"] == api.cluster.images["dns_check"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert set(container["resources"]) == {"requests", "limits"}


def test_each_step_is_in_the_log_before_it_is_sent() -> None:
    api = Api()
    seen: list[tuple[str, int]] = []
    trial = api.trial()
    write = trial.log

    def log(what: str, /, **fields: Any) -> bool:
        if fields["state"] == "sending":
            seen.append((what, len(api.sent)))
        return write(what, **fields)

    trial.log = log
    trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    trial.remove()
    assert [what for what, _ in seen] == [MAKE, f"make Pod {POD}", REMOVE]
    for what, at in seen:
        verb = "DELETE" if what.startswith("remove") else "POST"
        assert api.lines[at].startswith(verb), what
    assert all("command" in each for each in api.log if each["state"] == "sending")
    assert api.states(MAKE) == ["sending", "done"]
    assert api.states(REMOVE) == ["sending", "done"]


def test_a_broken_log_forbids_making_and_never_removing() -> None:
    api = Api()
    trial = begin(api)
    api.log_breaks = True
    with pytest.raises(Undecided, match="not made, the apply log is broken"):
        trial.begin(trial.sleeping("other", "dns_check"))
    assert len(posted(api)) == 2
    trial.remove()
    assert api.objects == {}


def test_without_anything_made_nothing_is_asked() -> None:
    api = Api()
    api.trial().remove()
    assert api.sent == []


def test_an_image_that_the_inventory_does_not_name_is_told() -> None:
    api = Api()
    with pytest.raises(Undecided, match="`images:` names no `nginx`"):
        api.trial().sleeping("web", "nginx")


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (
            {"refuses": {"POST /api/v1/namespaces": 403}},
            "refused to make it, HTTP 403: `not today`",
        ),
        ({"silent": ("/pods",)}, "nobody knows whether it was made: POST"),
        ({"silent": ("serviceaccounts",)}, "has its default service account: could not be asked"),
        ({"refuses": {"serviceaccounts": 500}}, "has its default service account: could not"),
    ],
)
def test_what_was_not_made_is_undecided_and_what_was_is_removed(
    trouble: dict[str, Any], told: str
) -> None:
    api = Api(**trouble)
    trial = api.trial()
    with pytest.raises(Undecided, match=told):
        trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    trial.remove()
    assert api.objects == {}


def test_pods_are_waited_for_until_they_are_ready() -> None:
    api = Api(becomes=lambda pod: running(pod) if api.now > 200 else pod)
    trial = api.trial()
    (pod,) = trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    trial.ready(pod, within=300.0)
    assert 200 < api.now < 203


def stuck(reason: str, message: str = "") -> Any:
    def becomes(pod: dict[str, Any]) -> dict[str, Any]:
        state = {"waiting": {"reason": reason, "message": message}}
        item = running(pod)
        item["status"] = {
            "phase": "Pending",
            "startTime": "x",
            "containerStatuses": [{"name": "trial", "ready": False, "state": state}],
        }
        return item

    return becomes


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        (
            [{"type": "Ready", "status": "False", "reason": "NodeNotReady"}],
            "its Ready condition is False (`NodeNotReady`)",
        ),
        ([{"type": "Ready", "status": "Unknown"}], "its Ready condition is Unknown: its node"),
        ([], "nobody says that the pod is"),
    ],
)
def test_a_pod_whose_containers_alone_are_ready_is_not_asked(
    conditions: list[dict[str, str]], says: str
) -> None:
    """The node died: its containers stay ready in the API, the pod's condition does not."""

    def becomes(pod: dict[str, Any]) -> dict[str, Any]:
        item = running(pod)
        item["status"]["conditions"] = conditions
        return item

    api = Api(becomes=becomes)
    trial = api.trial()
    (pod,) = trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    with pytest.raises(Undecided) as told:
        trial.ready(pod, within=300.0)
    assert "is not Ready: on `rke-platform01`, " in str(told.value)
    assert says in str(told.value)


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"])
def test_an_image_that_cannot_be_had_is_named_with_its_node(reason: str) -> None:
    api = Api(becomes=stuck(reason, "dial tcp: i/o timeout"), warns=("first", "pull failed"))
    trial = api.trial()
    (pod,) = trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    with pytest.raises(Undecided) as told:
        trial.ready(pod, within=300.0)
    for part in (
        api.cluster.images["dns_check"],
        "rke-platform01",
        "dial tcp: i/o timeout",
        "`images:`",
        "last warning: `Failed: pull failed`",
    ):
        assert part in str(told.value)
    assert 299 < api.now < 302


def test_a_pod_that_has_ended_is_not_waited_for() -> None:
    def becomes(pod: dict[str, Any]) -> dict[str, Any]:
        return running(pod) | {
            "status": {"phase": "Failed", "reason": "Evicted", "message": "full"}
        }

    api = Api(becomes=becomes)
    trial = api.trial()
    (pod,) = trial.begin(trial.sleeping("rke2-dns-check", "dns_check"))
    with pytest.raises(Undecided, match="it has ended, Failed, `Evicted`, `full`"):
        trial.ready(pod, within=300.0)
    assert api.now < 5
