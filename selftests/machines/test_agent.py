"""The stand-in for `rke2 agent`, and what of a node's pods really runs, without a machine."""

from __future__ import annotations

import dataclasses
import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from machines import gobuild, plan, render
from machines.errors import LabError
from machines.guest import (
    agent,
    bound,
    certificates,
    config,
    containers,
    in_container,
    kubelet,
    server,
    supervisor,
)
from machines.guest.api import ApiError
from selftests.machines.control_plane import CONFIG, furnish
from selftests.machines.fake_api import FakeApi

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PODS = "/api/v1/pods"
_WORKER = config.Config(
    token="right",
    server="unused",
    cluster_cidr="10.42.0.0/16",
    service_cidr="10.43.0.0/16",
    node_name="rke-platform01",
    node_ip="10.72.0.41",
)


class EndedError(Exception):
    """Ends what waits for ever."""


@pytest.fixture
def openssl(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Stands for the program: what it was asked for; it prints which command that was."""
    asked: list[tuple[str, ...]] = []

    def run(*arguments: str) -> str:
        asked.append(arguments)
        return f"{arguments[0]} output"

    monkeypatch.setattr(certificates, "_openssl", run)
    return asked


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, openssl: list[tuple[str, ...]]) -> str:
    """A supervisor of a first control plane; the agent's folder is a temporary one."""
    del openssl
    data = furnish(tmp_path, monkeypatch)
    monkeypatch.setattr(certificates, "TLS", data / "server/tls")
    monkeypatch.setattr(certificates, "AGENT", tmp_path / "agent")
    started = supervisor.Supervisor("right", server.routes(FakeApi({}), CONFIG), port=0)
    started.start()
    return f"https://127.0.0.1:{started.port}"


def test_an_agent_gets_its_certificates_and_the_cluster_s_networks(
    url: str, tmp_path: Path, openssl: list[tuple[str, ...]]
) -> None:
    known = certificates.fetch(_WORKER, url)
    assert (known.cluster_cidr, known.service_cidr) == ("10.64.0.0/14", "10.68.0.0/16")
    assert (known.api_service, known.cluster_dns) == ("10.68.0.1", "10.68.0.10")
    folder = tmp_path / "agent"
    assert (folder / "server-ca.crt").read_text() == (
        tmp_path / "rke2/server/tls/server-ca.crt"
    ).read_text()
    for kind in ("serving-kubelet", "client-kubelet", "client-kube-proxy"):
        assert (folder / f"{kind}.crt").read_text() == "x509 output"
        assert stat.S_IMODE((folder / f"{kind}.key").stat().st_mode) == 0o600
    subjects = [call[call.index("-subj") + 1] for call in openssl if call[0] == "x509"]
    assert subjects == [
        "/CN=rke-platform01",
        "/O=system:nodes/CN=system:node:rke-platform01",
        "/CN=system:kube-proxy",
    ]


@pytest.mark.parametrize(
    ("token", "reason"),
    [("wrong", "token is not valid: .*HTTP 401"), ("right", "failed to get CA")],
)
def test_a_refused_agent_says_why_and_asks_again(
    token: str,
    reason: str,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def sleep(_: float) -> None:
        raise EndedError

    monkeypatch.setattr(agent.time, "sleep", sleep)
    joining = dataclasses.replace(_WORKER, token=token)
    with pytest.raises(EndedError):
        agent._join(joining, url if token == "wrong" else "https://127.0.0.1:1")
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(capsys.readouterr().err)


@pytest.mark.parametrize("node", ["", "rke-cp01/CN=admin", "../x", "UPPER"])
@pytest.mark.usefixtures("openssl")
def test_no_certificate_is_issued_for_what_is_no_node(node: str) -> None:
    body = {"csr": "", "node": node, "address": "10.72.0.41"}
    with pytest.raises(RuntimeError, match="not a node"):
        certificates.issued("client-kubelet", body)


def test_the_worker_s_labels_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "primary_address", lambda _: "10.72.0.41")
    path = tmp_path / "config.yaml"
    path.write_text(render.agent_config("f" * 32))
    assert config.load(path).node_labels == (("wetopi.io/role", "platform"),)
    path.write_text("token: t\nnode-label: [nonsense]\n")
    with pytest.raises(ValueError, match="nonsense"):
        config.load(path)


def test_the_kubeconfigs_are_private_and_speak_for_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KUBELET_KUBECONFIG", "KUBE_PROXY_KUBECONFIG", "CLUSTER_DNS"):
        monkeypatch.setattr(kubelet, name, tmp_path / name)
    kubelet.configure("10.72.0.20", "10.68.0.10")
    path = tmp_path / "KUBELET_KUBECONFIG"
    content = json.loads(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert content["clusters"][0]["cluster"]["server"] == "https://10.72.0.20:6443"
    assert content["users"][0]["user"]["client-key"].endswith("/agent/client-kubelet.key")
    assert (tmp_path / "CLUSTER_DNS").read_text() == "10.68.0.10\n"


def test_what_kwok_may_is_granted_once() -> None:
    class There(FakeApi):
        def request(self, method: str, path: str, *_: Any, **__: Any) -> dict[str, Any]:
            self.changes.append((method, path, None))
            raise ApiError(409, "already exists")

    api = There({})
    kubelet.allow(api)
    assert [path.rpartition("/")[2] for _, path, _ in api.changes] == [
        "clusterroles",
        "clusterrolebindings",
    ]


def _pod(app: str, *, ready: str = "True", uid: str = "u", **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"{app}-x",
            "namespace": "kube-system",
            "uid": uid,
            "labels": {"k8s-app": app},
            **metadata,
        },
        "spec": {"serviceAccountName": "coredns"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [{"name": app, "ready": ready == "True"}],
        },
    }


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What systemd was told of containers; their folders are temporary ones."""
    told: list[str] = []
    monkeypatch.setattr(containers, "BOUND", tmp_path / "pods")
    monkeypatch.setattr(bound, "COREDNS", tmp_path / "coredns")
    monkeypatch.setattr(
        containers, "_systemctl", lambda verb, component, *_: told.append(f"{verb} {component}")
    )
    return told


class Tokens(FakeApi):
    """Issues a token for whatever asks for one."""

    def request(self, method: str, path: str, *rest: Any, **more: Any) -> dict[str, Any]:
        answer = super().request(method, path, *rest, **more)
        return {"status": {"token": "secret"}} if path.endswith("/token") else answer


def _bound(api: FakeApi, monkeypatch: pytest.MonkeyPatch, *, answers: bool = True) -> bound.Bound:
    monkeypatch.setattr(bound.Bound, "_answers", lambda _: answers)
    return bound.Bound(api, _WORKER)


def test_the_first_cilium_agent_brings_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    api = FakeApi({_PODS: {"items": [_pod("cilium")]}})
    node = _bound(api, monkeypatch)
    node.keep()
    node.keep()
    annotations = {"metadata": {"annotations": {"machines-lab/cni": "cilium"}}}
    assert api.changes == [("PATCH", "/api/v1/nodes/rke-platform01", annotations)]


def test_coredns_runs_while_its_pod_is_here(
    units: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Tokens({_PODS: {"items": [_pod("kube-dns")]}})
    node = _bound(api, monkeypatch)
    node.keep()
    node.keep()
    assert units == ["stop coredns"]
    assert "secret" in (tmp_path / "coredns/kubeconfig").read_text()
    assert "bind 10.72.0.41" in (tmp_path / "coredns/Corefile").read_text()
    assert list(containers.bound()) == ["coredns"]
    api.answers[_PODS] = {"items": [_pod("kube-dns", deletionTimestamp="now")]}
    node.keep()
    assert units == ["stop coredns", "stop coredns"]
    assert containers.bound() == {}


@pytest.mark.parametrize("answers", [True, False])
@pytest.mark.usefixtures("units")
def test_the_pod_of_coredns_is_ready_as_far_as_it_answers(
    monkeypatch: pytest.MonkeyPatch, *, answers: bool
) -> None:
    api = Tokens({_PODS: {"items": [_pod("kube-dns", ready=str(not answers))]}})
    _bound(api, monkeypatch, answers=answers).keep()
    (_, path, body) = api.changes[-1]
    assert path == "/api/v1/namespaces/kube-system/pods/kube-dns-x/status"
    assert {one["status"] for one in body["status"]["conditions"]} == {str(answers)}
    assert body["status"]["containerStatuses"] == [{"name": "kube-dns", "ready": answers}]
    api.answers[_PODS] = {"items": [_pod("kube-dns", ready=str(answers))]}
    before = len(api.changes)
    _bound(api, monkeypatch, answers=answers).keep()
    assert len(api.changes) == before


@pytest.mark.parametrize(
    ("image", "program"),
    [
        ("busybox:1.36", ["busybox", "nslookup", "x"]),
        ("registry.k8s.io/e2e-test-images/jessie-dnsutils:1.7", ["nslookup", "x"]),
        ("nginx:1.27", None),
    ],
)
def test_a_program_runs_if_the_image_has_it(
    image: str,
    program: Sequence[str] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran: list[list[str]] = []

    def become(_: str, argv: list[str]) -> None:
        ran.append(argv)
        raise EndedError

    monkeypatch.setattr(in_container, "_image", lambda *_: image)
    monkeypatch.setattr(in_container, "RUN", tmp_path)
    monkeypatch.setattr(in_container, "CLUSTER_DNS", tmp_path / "dns")
    monkeypatch.setattr(in_container.os, "execvp", become)
    (tmp_path / "dns").write_text("10.68.0.10\n")
    with pytest.raises((EndedError, SystemExit)) as ended:
        in_container.command(["d2", "pod", "trial", "nslookup", "x"])
    if program is None:
        assert ended.value.args == (127,)
        assert 'exec: "nslookup"' in capsys.readouterr().err
        return
    assert ran[0][-len(program) :] == program
    assert (tmp_path / "resolvers/d2").read_text() == (
        "search d2.svc.cluster.local svc.cluster.local cluster.local\n"
        "nameserver 10.68.0.10\noptions ndots:5\n"
    )


def test_an_edit_of_a_published_source_is_made_once_or_not_at_all() -> None:
    edit = gobuild.Edit("module", "file.go", "old", "new")
    assert edit.made("an old line") == "an new line"
    for text in ("nothing", "old and old"):
        with pytest.raises(LabError, match="not once"):
            edit.made(text)


def test_kwok_runs_every_exec_through_the_layer_s_program() -> None:
    (kwok,) = [module for module in gobuild.MODULES if module.name == "kwok"]
    assert any(plan.IN_CONTAINER in edit.new for edit in kwok.edits)
    assert kwok.key() != dataclasses.replace(kwok, edits=()).key()
