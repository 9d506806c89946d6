"""What proves a restore: markers, identity, members, units, and what really runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.restore import alone, as_before, both_there, rejoined, restored, same_cluster
from fixtures.judge.runtime import agrees
from fixtures.observe import markers
from fixtures.observe.answers import Unknown
from fixtures.observe.drill_units import parse_services
from fixtures.observe.etcd import Health, Listing, Member, Membership, View
from fixtures.observe.markers import Marker, Markers
from fixtures.observe.pods import Pods
from fixtures.observe.rke2 import Applied
from fixtures.observe.runtime import Runtime
from selftests.gates.drilling import Drilled, drilled, node
from selftests.gates.texts import ADDRESSES, CPS, GET_PODS, KUBECTL, items, pod_object, unit
from selftests.gates.world import Reply, wetopi

if TYPE_CHECKING:
    from fixtures.judge.findings import Findings

RUN = "20261130T120000Z-AB12"
NAME = "rke2-acceptance-marker-1-20261130t120000z-ab12"
GET = f"{KUBECTL} -n default get configmap {NAME} -o json"
CREATE = f"{KUBECTL} -n default create configmap {NAME} --from-literal=run={RUN} -o json"
DELETE = f"{KUBECTL} -n default delete configmap {NAME} --ignore-not-found"
ABSENT = f'Error from server (NotFound): configmaps "{NAME}" not found\n'
HOST = "rke-cp02"
OLD = frozenset(f"{name}-{'0' * 8}" for name in CPS)


def config_map(uid: str = "u1", **changes: Any) -> str:
    item = {
        "kind": "ConfigMap",
        "data": {"run": RUN},
        "metadata": {
            "name": NAME,
            "namespace": "default",
            "uid": uid,
            "creationTimestamp": "2026-11-30T13:15:09Z",
        },
    }
    return json.dumps(item | changes)


def marker(uid: str = "u1", name: str = NAME) -> Marker:
    return Marker(name, uid, datetime(2026, 11, 30, 13, 15, 9, tzinfo=UTC), RUN)


def seen(reply: Reply) -> Marker | None:
    world = drilled()
    world.say(HOST, GET, reply)
    return Markers(world.cluster, world).seen_from(node(), RUN, 1)


def test_a_marker_is_made_read_and_removed_by_name() -> None:
    world = drilled()
    request = markers.create(world.cluster, node(), RUN, 1)
    assert request.command == CREATE
    world.say(HOST, CREATE, Reply(config_map()))
    assert markers.created(world.ask([request]), request) == marker()
    assert seen(Reply(config_map())) == marker()
    assert markers.delete(world.cluster, node(), RUN, 1).command == DELETE


def test_a_marker_that_the_api_does_not_have() -> None:
    assert seen(Reply(stderr=ABSENT, rc=1)) is None
    remark = "sudo: unable to resolve host rke-cp02: Name or service not known\n"
    assert seen(Reply(stderr=remark + ABSENT, rc=1)) is None


@pytest.mark.parametrize(
    "reply",
    [
        Reply(silent="rke-cp02: no answer"),
        Reply(stderr='Error from server (NotFound): namespaces "default" not found\n', rc=1),
        Reply(stderr="The connection to the server was refused\n", rc=1),
        Reply(stderr="Error from server (ServiceUnavailable): apiserver not ready\n", rc=1),
        Reply("", ABSENT),
        Reply(config_map(kind="Secret")),
        Reply(config_map().replace(NAME, "another")),
        Reply(config_map(metadata={"name": NAME, "uid": ""})),
        Reply(config_map(metadata={"name": NAME, "uid": "u", "creationTimestamp": "today"})),
    ],
)
def test_an_error_is_not_a_missing_marker(reply: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp02"):
        seen(reply)


@pytest.mark.parametrize("run", ["", "a b", "a;b", "ä"])
def test_a_run_id_that_is_none_is_never_sent(run: str) -> None:
    with pytest.raises(ValueError, match="not a run id"):
        markers.create(wetopi(), node(), run, 1)


def test_a_restore_brings_back_marker_1_and_takes_marker_2() -> None:
    assert restored(marker(), marker(), None) == ()


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (None, None, "may have started empty"),
        (marker("other"), None, "has UID `other`, not `u1`"),
        (marker(), marker("u2", "marker-2"), "marker-2 from after the snapshot is still there"),
    ],
)
def test_what_is_no_restore(first: Marker | None, second: Marker | None, says: str) -> None:
    (finding,) = restored(marker(), first, second)
    assert says in finding
    assert "STOP" in finding


def test_both_markers_are_needed_before() -> None:
    assert both_there(marker(), marker("u2")) == ()
    assert [finding[:8] for finding in both_there(None, None)] == ["marker 1", "marker 2"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [("a:1", "a:1", True), ("a:1", "a:2", False), ("a:1", None, False), (None, None, False)],
)
def test_identity(before: str | None, after: str | None, same: bool) -> None:
    assert (same_cluster(before, after) == ()) is same


def member(host: str, suffix: str = "1" * 8, **changes: Any) -> Member:
    values: dict[str, Any] = {
        "id": CPS.index(host) + 1,
        "name": f"{host}-{suffix}",
        "peer_urls": (f"https://{ADDRESSES[host]}:2380",),
        "client_urls": (f"https://{ADDRESSES[host]}:2379",),
        "learner": False,
    }
    return Member(**(values | changes))


def membership(*members: Member, clusters: tuple[int, ...] = (9, 9, 9)) -> Membership:
    health = tuple(Health(url, healthy=True) for each in members for url in each.client_urls)
    views = tuple(
        View(name, Listing(cluster, members), health)
        for name, cluster in zip(CPS, clusters, strict=True)
    )
    return Membership(views, Applied(frozenset(CPS)))


def test_the_restored_node_is_alone_under_a_new_name() -> None:
    assert alone(membership(member("rke-cp01")), node("rke-cp01"), OLD) == ()


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ((member("rke-cp01"), member("rke-cp02")), "etcd has 2 members"),
        ((member("rke-cp01", "0" * 8),), "still has its old name"),
        ((member("rke-cp02"),), "not this node's"),
        ((member("rke-cp01", name=""),), "has not started"),
        ((member("rke-cp01", learner=True),), "has not started as a voter"),
    ],
)
def test_what_is_not_alone(members: tuple[Member, ...], says: str) -> None:
    (finding,) = alone(membership(*members), node("rke-cp01"), OLD)
    assert says in finding


def test_an_unknown_member_list_is_undecided() -> None:
    view = View("rke-cp01", Unknown("rke-cp01: no answer"), Unknown("x"))
    with pytest.raises(Undecided, match="rke-cp01: no answer"):
        alone(Membership((view,), Applied(frozenset())), node("rke-cp01"), OLD)
    with pytest.raises(Undecided, match="not asked"):
        alone(Membership((), Applied(frozenset())), node("rke-cp01"), OLD)


def test_three_new_voters_in_one_cluster() -> None:
    assert rejoined(membership(*map(member, CPS)), OLD, wetopi()) == ()


def test_two_clusters_that_both_look_healthy() -> None:
    found = rejoined(membership(*map(member, CPS), clusters=(9, 8, 8)), OLD, wetopi())
    assert any("there are 2 etcd clusters" in finding for finding in found)


def test_peers_that_never_left_the_old_cluster() -> None:
    members = (member("rke-cp01"), member("rke-cp02", "0" * 8), member("rke-cp03"))
    found = rejoined(membership(*members), OLD, wetopi())
    assert any("kept their names" in finding and "rke-cp02" in finding for finding in found)


def services(**server: str) -> Any:
    return parse_services(unit("keepalived.service") + "\n" + unit("rke2-server.service", **server))


@pytest.mark.parametrize(
    "server",
    [
        {"LoadState": "masked", "UnitFileState": "masked"},
        {"UnitFileState": "disabled"},
        {"ActiveState": "activating", "SubState": "start"},
    ],
)
def test_units_are_put_back_as_they_were(server: dict[str, str]) -> None:
    assert as_before(HOST, services(), services()) == ()
    (finding,) = as_before(HOST, services(), services(**server))
    assert finding.startswith("rke-cp02: rke2-server.service is ")
    assert "before the drill `loaded, active (running), enabled`" in finding
    assert as_before(HOST, services(**server), services(**server)) == ()


CRICTL = (
    "sudo -n /var/lib/rancher/rke2/bin/crictl "
    "--runtime-endpoint unix:///run/k3s/containerd/containerd.sock pods -o json"
)


def sandbox(name: str, uid: str, state: str = "SANDBOX_READY") -> dict[str, Any]:
    metadata = {"name": name, "uid": uid, "namespace": "kube-system", "attempt": 0}
    return {"id": "x", "metadata": metadata, "state": state, "createdAt": "1"}


def mirror(name: str, known_as: str) -> Any:
    pod = pod_object(name, HOST, mirror=True)
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"] = known_as
    return pod


PODS = [
    mirror("etcd-rke-cp02", "hash1"),
    pod_object("proxy", HOST),
    pod_object("job", HOST, phase="Succeeded"),
    pod_object("waiting", HOST, phase="Pending"),
    pod_object("elsewhere", "rke-cp03"),
]
SANDBOXES = [
    sandbox("etcd-rke-cp02", "hash1"),
    sandbox("proxy", "uid-kube-system-proxy"),
    sandbox("old", "whatever", "SANDBOX_NOTREADY"),
]


def compared(pods: list[Any], sandboxes: list[Any]) -> Findings:
    world: Drilled = drilled()
    world.say("rke-cp01", GET_PODS, Reply(items(pods)))
    world.say(HOST, CRICTL, Reply(json.dumps({"items": sandboxes})))
    running = Runtime(world.cluster, world).on(node())
    return agrees(running, Pods(world.cluster, world).everywhere())


def test_api_and_runtime_agree_by_uid() -> None:
    assert compared(PODS, SANDBOXES) == ()


@pytest.mark.parametrize(
    ("pods", "sandboxes", "says"),
    [
        (PODS, [*SANDBOXES, sandbox("ghost", "g")], "does not know there: `kube-system/ghost (g)`"),
        (PODS, [*SANDBOXES, sandbox("proxy", "old-uid")], "kube-system/proxy (old-uid)"),
        (PODS, [*SANDBOXES, sandbox("e", "uid-kube-system-elsewhere")], "kube-system/e"),
        (PODS, SANDBOXES[:1], "runs what it does not: `kube-system/proxy (uid-kube-system-proxy)`"),
        ([*PODS, mirror("kube-scheduler", "hash2")], SANDBOXES, "kube-system/kube-scheduler"),
        (
            PODS,
            [SANDBOXES[0], sandbox("proxy", "uid-kube-system-proxy", "SANDBOX_NOTREADY")],
            "runs what it does not",
        ),
    ],
)
def test_where_they_differ(pods: list[Any], sandboxes: list[Any], says: str) -> None:
    (finding,) = compared(pods, sandboxes)
    assert says in finding


def test_a_runtime_that_runs_nothing_is_not_complete() -> None:
    with pytest.raises(Undecided, match="lists no pod that runs"):
        compared(PODS, [])


@pytest.mark.parametrize("text", ["{}", '{"items": 7}', '{"items": [{}]}', "[]", ""])
def test_what_is_no_list_of_sandboxes_is_undecided(text: str) -> None:
    world = drilled()
    world.say(HOST, CRICTL, Reply(text))
    with pytest.raises(Undecided):
        Runtime(world.cluster, world).on(node())
