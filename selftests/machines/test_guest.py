"""The stand-in for `rke2` inside a machine, without a machine."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from machines import plan, render
from machines.guest import components, config, containers, etcd, node, supervisor
from machines.pki import ClusterPki
from selftests.machines.fake_api import FakeApi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_CONFIG = config.Config(
    token="0" * 32,
    server=None,
    cluster_cidr="10.64.0.0/14",
    service_cidr="10.68.0.0/16",
    node_name="rke-cp02",
    node_ip="10.72.0.22",
)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The node's folders, in a temporary place."""
    monkeypatch.setattr(etcd, "DATA", tmp_path)
    monkeypatch.setattr(etcd, "ETCD", tmp_path / "server/db/etcd")
    monkeypatch.setattr(etcd, "_PAUSE", 0)
    monkeypatch.setattr(containers, "MANIFESTS", tmp_path / "pod-manifests")
    return tmp_path


def test_the_configuration_that_up_writes_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "primary_address", lambda _: "10.72.0.22")
    path = tmp_path / "config.yaml"
    path.write_text(render.rke2_config(plan.CONTROL_PLANES[1], "f" * 32))
    read = config.load(path)
    assert read.server == "https://10.72.0.20:9345"
    assert (read.token, read.cluster_cidr, read.service_cidr) == (
        "f" * 32,
        "10.64.0.0/14",
        "10.68.0.0/16",
    )


@pytest.mark.parametrize("content", ["", "- a", "cni: none"])
def test_a_configuration_without_token_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(content)
    with pytest.raises(ValueError, match="token"):
        config.load(path)


def test_the_vip_is_never_the_node_s_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = [
        {
            "ifname": "eth0",
            "addr_info": [
                {"local": "10.72.0.20", "secondary": True},
                {"local": "10.72.0.21"},
            ],
        }
    ]

    class Done:
        stdout = json.dumps(listing)

    monkeypatch.setattr(config.subprocess, "run", lambda *_, **__: Done())
    assert config.primary_address("eth0") == "10.72.0.21"


def test_the_first_member_makes_a_cluster_of_one_and_keeps_its_name(places: Path) -> None:
    member = etcd.prepare("rke-cp01", "10.72.0.21", server=None, token="t")
    node_name, _, suffix = member.name.rpartition("-")
    assert node_name == "rke-cp01"
    assert len(bytes.fromhex(suffix)) == 4
    written = yaml.safe_load((places / "server/db/etcd/config").read_text())
    assert written["initial-cluster"] == f"{member.name}=https://10.72.0.21:2380"
    assert written["initial-cluster-state"] == "new"
    assert written["client-transport-security"]["client-cert-auth"] is True
    again = etcd.prepare("rke-cp01", "10.72.0.21", server=None, token="t")
    assert again == member
    written = yaml.safe_load((places / "server/db/etcd/config").read_text())
    assert written["initial-cluster-state"] == "existing"


_FIRST = {
    "ID": 255,
    "name": "rke-cp01-0",
    "peerURLs": ["https://10.72.0.21:2380"],
    "clientURLs": ["https://10.72.0.21:2379"],
}


@pytest.mark.parametrize("leftover", [True, False])
def test_a_joining_member_comes_as_a_learner_once(
    places: Path, monkeypatch: pytest.MonkeyPatch, *, leftover: bool
) -> None:
    asked: list[tuple[str, ...]] = []
    unstarted = [{"ID": 254, "peerURLs": ["https://10.72.0.22:2380"]}] if leftover else []

    def ctl(*arguments: str, endpoints: str) -> dict[str, Any]:
        asked.append((*arguments, endpoints))
        return {}

    monkeypatch.setattr(etcd, "ctl", ctl)
    monkeypatch.setattr(etcd.supervisor, "members_of", lambda *_: [_FIRST, *unstarted])
    member = etcd.prepare("rke-cp02", "10.72.0.22", server="https://10.72.0.20:9345", token="t")
    adding = (
        *("member", "add", member.name, "--learner"),
        *("--peer-urls=https://10.72.0.22:2380", "https://10.72.0.21:2379"),
    )
    assert asked == ([] if leftover else [adding])
    written = yaml.safe_load((places / "server/db/etcd/config").read_text())
    assert written["initial-cluster"].split(",") == [
        "rke-cp01-0=https://10.72.0.21:2380",
        f"{member.name}=https://10.72.0.22:2380",
    ]


def test_a_node_whose_old_member_is_in_the_cluster_does_not_join(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"ID": 1, "name": "rke-cp02-1", "peerURLs": ["https://10.72.0.22:2380"]}
    monkeypatch.setattr(etcd.supervisor, "members_of", lambda *_: [_FIRST, old])
    with pytest.raises(etcd.DuplicateNameError):
        etcd.prepare("rke-cp02", "10.72.0.22", server="https://10.72.0.20:9345", token="t")
    assert not (places / "server/db/etcd/name").exists()


@pytest.mark.usefixtures("places")
def test_a_learner_is_promoted_by_the_voters_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    member = etcd.Member("rke-cp02-1", "10.72.0.22")
    voter = {"ID": 1, "name": "rke-cp01-0", "clientURLs": ["https://10.72.0.21:2379"]}
    own = {"ID": 16, "name": member.name, "isLearner": True, "clientURLs": ["own"]}
    asked: list[tuple[tuple[str, ...], str]] = []

    def ctl(*arguments: str, endpoints: str = "local") -> dict[str, Any]:
        if arguments == ("member", "list"):
            if own.get("isLearner"):
                raise etcd.EtcdError("rpc not supported for learner")
            return {"members": [voter, own]}
        asked.append((arguments, endpoints))
        own.pop("isLearner")
        return {}

    monkeypatch.setattr(etcd, "ctl", ctl)
    monkeypatch.setattr(etcd.supervisor, "members_of", lambda *_: [voter, own])
    etcd.promote(member, server="https://10.72.0.20:9345", token="t")
    assert asked == [(("member", "promote", "10"), "https://10.72.0.21:2379")]


def test_the_api_server_is_started_as_rke2_starts_it() -> None:
    pods = {pod.component: pod for pod in components.of_server(_CONFIG)}
    assert list(pods) == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kube-proxy",
    ]
    arguments = pods["kube-apiserver"].argv
    assert "--anonymous-auth=false" in arguments
    assert "--etcd-servers=https://127.0.0.1:2379" in arguments
    assert "--advertise-address=10.72.0.22" in arguments


def _mirrored(name: str, uid: str | None = "x") -> dict[str, Any]:
    annotations = {} if uid is None else {"kubernetes.io/config.mirror": uid}
    return {"metadata": {"name": name, "annotations": annotations}}


@pytest.mark.usefixtures("places")
def test_mirror_pods_follow_the_manifests_and_nothing_else_is_touched() -> None:
    for pod in components.of_server(_CONFIG)[:2]:
        containers.write(pod, "rke-cp02")
    api = FakeApi(
        {
            "/api/v1/nodes/rke-cp02": {"metadata": {"uid": "node-uid"}},
            "/api/v1/namespaces/kube-system/pods": {
                "items": [
                    _mirrored("etcd-rke-cp02", containers.uid(containers.manifests()["etcd"])),
                    _mirrored("kube-apiserver-rke-cp02", "of an older manifest"),
                    _mirrored("gone-rke-cp02"),
                    _mirrored("someones-pod", None),
                ]
            },
        }
    )
    node.Node(api, _CONFIG).mirror()
    pods = "/api/v1/namespaces/kube-system/pods"
    *deleted, (created, where, body) = api.changes
    assert (created, where) == ("POST", pods)
    assert body["metadata"]["name"] == "kube-apiserver-rke-cp02"
    assert body["metadata"]["labels"]["component"] == "kube-apiserver"
    assert body["metadata"]["annotations"]["kubernetes.io/config.source"] == "file"
    assert body["metadata"]["ownerReferences"][0]["uid"] == "node-uid"
    assert body["spec"]["nodeName"] == "rke-cp02"
    assert sorted(change[:2] for change in deleted) == [
        ("DELETE", f"{pods}/{name}?gracePeriodSeconds=0")
        for name in ("gone-rke-cp02", "kube-apiserver-rke-cp02")
    ]


def test_only_dead_containers_are_started(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pod in components.of_server(_CONFIG)[:3]:
        containers.write(pod, "rke-cp02")
    assert sorted(path.name for path in (places / "pod-manifests").iterdir()) == [
        "etcd.yaml",
        "kube-apiserver.yaml",
        "kube-controller-manager.yaml",
    ]
    started: list[str] = []

    class Done:
        returncode = 0
        stdout = "active\n\nfailed\n\nactivating\n"

    def systemctl(argv: list[str], **_: object) -> Done:
        if argv[1] == "start":
            started.append(argv[-1])
        return Done()

    monkeypatch.setattr(containers.subprocess, "run", systemctl)
    assert containers.start_dead() == ["kube-apiserver"]
    assert started == ["rke2-container@kube-apiserver.service"]


@pytest.fixture
def listening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Callable[[], list[dict[str, Any]]]], str]]:
    """Starts a supervisor on a free port of loopback and gives its URL."""
    pki = ClusterPki()
    for path, content in pki.files(plan.CONTROL_PLANES[0]).items():
        if path.startswith("server/tls/") and path.count("/") == 2:
            (tmp_path / path.removeprefix("server/tls/")).write_text(content)
    monkeypatch.setattr(supervisor, "TLS", tmp_path)

    def start(members: Callable[[], list[dict[str, Any]]]) -> str:
        routes = {("GET", supervisor.MEMBERS): lambda _: members()}
        started = supervisor.Supervisor("right", routes, port=0)
        started.start()
        return f"https://127.0.0.1:{started.port}"

    return start


def test_the_supervisor_lists_members_to_who_has_the_token(
    listening: Callable[[Callable[[], list[dict[str, Any]]]], str],
) -> None:
    url = listening(lambda: [{"name": "rke-cp01-0"}])
    assert supervisor.members_of(url, "right") == [{"name": "rke-cp01-0"}]
    with pytest.raises(RuntimeError, match="401"):
        supervisor.members_of(url, "wrong")


def test_the_supervisor_says_that_etcd_cannot_answer(
    listening: Callable[[Callable[[], list[dict[str, Any]]]], str],
) -> None:
    def broken() -> list[dict[str, Any]]:
        raise etcd.EtcdError("no leader")

    with pytest.raises(RuntimeError, match=r"500.*no leader"):
        supervisor.members_of(listening(broken), "right")


def test_a_bare_tcp_probe_does_not_keep_others_waiting(
    listening: Callable[[Callable[[], list[dict[str, Any]]]], str],
) -> None:
    url = listening(list)
    host, port = url.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port)), timeout=5):
        assert supervisor.members_of(url, "right") == []
