"""The commands of the stand-in answer in the real tool's words, as the suite reads them."""

from __future__ import annotations

import hashlib
import io
import re
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.requests import HostCommand, Output
from fixtures.observe.encryption import parse_status
from fixtures.observe.journal import parse_pod_log
from fixtures.observe.log_lines import parse_line
from fixtures.observe.runtime import parse_sandboxes
from fixtures.observe.snapshots import parse_rows, parse_save
from machines import plan
from machines.guest import (
    __main__ as commands,
)
from machines.guest import (
    components,
    containers,
    crictl,
    encryption,
    etcd,
    podlog,
    server,
    supervisor,
)
from selftests.machines.control_plane import CONFIG, FIRST, furnish

if TYPE_CHECKING:
    from pathlib import Path

_SNAPSHOT = b"a page" + b"\0" * 506


class FakeApi:
    """Nodes by name, with their annotation or none."""

    def __init__(self, hashes: dict[str, str | None]) -> None:
        self.hashes = hashes

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, patch: str = "merge"
    ) -> dict[str, Any]:
        del method, path, body, patch
        items = [
            {"metadata": {"name": name, "annotations": {encryption.ANNOTATION: value}}}
            if value
            else {"metadata": {"name": name}}
            for name, value in self.hashes.items()
        ]
        return {"items": items}


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A control plane's data folder."""
    return furnish(tmp_path, monkeypatch)


@pytest.fixture
def serving(node: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """A supervisor on a free port whose etcd saves; the nodes' annotations, to be changed."""

    def save(path: Path) -> None:
        path.write_bytes(_SNAPSHOT + hashlib.sha256(_SNAPSHOT).digest())

    monkeypatch.setattr(etcd, "ctl", lambda *_, **__: {})
    monkeypatch.setattr(etcd, "snapshot", save)
    hashes: dict[str, str | None] = {
        machine.name: encryption.annotation() for machine in plan.CONTROL_PLANES
    }
    answers = server.routes(FakeApi(hashes), CONFIG)
    started = supervisor.Supervisor("right", answers, port=0)
    started.start()
    monkeypatch.setattr(supervisor, "LOCAL", f"https://127.0.0.1:{started.port}")
    return hashes


def _output(captured: Any, status: int) -> Output:
    request = HostCommand(FIRST.name, "rke2", 1.0)
    now = datetime.now(UTC)
    return Output(request, status, captured.out.encode(), captured.err.encode(), now, 0.1)


@pytest.mark.usefixtures("serving")
def test_a_saved_snapshot_is_named_on_stderr_and_listed(
    node: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = commands.main(["etcd-snapshot", "save", "--name", "pre-addons-fase6"])
    captured = capsys.readouterr()
    saved = parse_save(_output(captured, status), FIRST.name, "pre-addons-fase6")
    assert captured.out == ""
    assert saved.snapshot is not None
    warned = re.findall(r'level=warning msg="Unknown flag --(\S+) found in', captured.err)
    keys = ["token", *["tls-san"] * 4, "cluster-cidr", "service-cidr", "cni"]
    assert warned == keys
    assert captured.err.count(r"config.yaml, skipping\n") == len(keys)
    path = node / "server/db/snapshots" / saved.snapshot.name
    assert path.stat().st_mode & 0o777 == 0o600
    assert commands.main(["etcd-snapshot", "ls", "-o", "json"]) == 0
    (row,) = parse_rows(capsys.readouterr().out)
    assert (row.path, row.size, row.ready) == (str(path), 544, True)
    assert commands.main(["etcd-snapshot", "ls"]) == 0
    heading, line = capsys.readouterr().out.splitlines()
    assert heading.split() == ["Name", "Location", "Size", "Created"]
    assert line.split()[:3] == [row.name, row.location, "544"]


@pytest.mark.usefixtures("serving")
def test_an_empty_list_is_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["etcd-snapshot", "list"]) == 0
    assert capsys.readouterr().out == "Name Location Size Created\n"


@pytest.mark.usefixtures("serving")
def test_a_save_that_fails_on_the_server_is_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: Path) -> None:
        raise etcd.EtcdError("no space left on device")

    monkeypatch.setattr(etcd, "snapshot", full)
    status = commands.main(["etcd-snapshot", "save", "--name=full"])
    assert parse_save(_output(capsys.readouterr(), status), FIRST.name, "full").names == ()
    assert status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["etcd-snapshot", "ls"], "connect: connection refused"),
        (["secrets-encrypt", "status"], "connect: connection refused"),
        (["etcd-snapshot", "ls", "-o", "wide"], "Error: invalid output format: wide"),
    ],
)
@pytest.mark.usefixtures("node")
def test_a_stopped_server_is_told_as_the_real_tool_does(
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr(supervisor, "LOCAL", f"https://127.0.0.1:{port}")
    assert commands.main(words) == 1
    last = parse_line(capsys.readouterr().err.splitlines()[-1])
    assert last.level is not None
    assert last.level.value == "fatal"
    assert last.message.startswith("Error: ")
    assert said in last.message


def test_the_tool_s_own_failures(
    serving: dict[str, str | None], node: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.main(["etcd-snapshot", "restore"]) == 3
    assert "No help topic for 'restore'" in capsys.readouterr().err
    del serving[FIRST.name]
    assert commands.main(["secrets-encrypt", "status"]) == 1
    said = capsys.readouterr().err
    assert re.search(r"see server log for details: Internal error .*secret-encrypt error ID", said)
    (node / "server/token").write_text("wrong\n")
    assert commands.main(["secrets-encrypt", "status"]) == 1
    assert "see server log for details: not authorized" in capsys.readouterr().err
    (node / "server/token").unlink()
    assert commands.main(["secrets-encrypt", "status"]) == 1
    assert "server/token: no such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("form", [["-o", "json"], []], ids=["json", "text"])
def test_the_encryption_status_is_the_node_s_own(
    serving: dict[str, str | None], form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.main(["secrets-encrypt", "status", *form]) == 0
    healthy = parse_status(capsys.readouterr().out)
    assert (healthy.enabled, healthy.stage, healthy.hashes_match) == (True, "start", True)
    assert str(healthy.active) == "AES-CBC aescbckey"
    serving["rke-cp02"] = None
    serving["rke-cp03"] = "start-other"
    assert commands.main(["secrets-encrypt", "status", *form]) == 0
    differing = parse_status(capsys.readouterr().out)
    assert differing.hash_error == "hash does not match between rke-cp01 and rke-cp03"


def test_crictl_knows_the_static_pods_by_their_manifests(
    node: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del node
    words = crictl._WANTED
    for pod in components.of_server(CONFIG)[:2]:
        containers.write(pod, FIRST.name)
    monkeypatch.setattr(
        containers, "states", lambda: {"etcd": "active", "kube-apiserver": "failed"}
    )
    assert commands.main(["crictl", *words]) == 0
    etcd_pod, api_pod = parse_sandboxes(capsys.readouterr().out)
    assert (str(etcd_pod), etcd_pod.ready) == ("kube-system/etcd-rke-cp01", True)
    assert etcd_pod.uid == containers.uid(containers.manifests()["etcd"])
    assert not api_pod.ready
    monkeypatch.setattr(containers, "states", lambda: {"etcd": "inactive"})
    assert commands.main(["crictl", *words]) == 1
    assert "containerd.sock: connect: connection refused" in capsys.readouterr().err


def test_a_container_s_log_is_in_containerd_s_form(node: Path) -> None:
    containers.write(components.of_server(CONFIG)[0], FIRST.name)
    manifest = containers.manifests()["etcd"]
    where = podlog.place(manifest).relative_to(node.parent / "pods")
    assert re.fullmatch(r"kube-system_etcd-rke-cp01_[0-9a-f]{32}/etcd/0\.log", str(where))
    log = io.BytesIO()
    podlog.copy(io.BytesIO(b"short\n" + b"x" * 20_000 + b"\n"), log)
    first, second = parse_pod_log(log.getvalue().decode())
    assert (first.text, second.text) == ("short", "x" * 20_000)
