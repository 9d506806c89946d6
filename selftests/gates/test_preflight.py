"""What must be so before the first stop of a restore."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.preflight import plain, resettable, room_for_databases, same_token
from fixtures.observe.answers import Misread, Unknown
from fixtures.observe.etcd_status import MemberStatus, Progress, ProgressFrom
from fixtures.observe.rke2 import Applied, Configuration, Settings
from fixtures.observe.server_setup import ServerSetup
from fixtures.observe.unit_file import parse_unit_file
from selftests.gates.drilling import node
from selftests.gates.world import wetopi

if TYPE_CHECKING:
    from fixtures.judge.findings import Findings
    from fixtures.observe.rke2_config import Values

HOST = "rke-cp01"
UNIT = """# /usr/local/lib/systemd/system/rke2-server.service
[Service]
Type=notify
EnvironmentFile=-/etc/default/%N
EnvironmentFile=-/etc/sysconfig/%N
EnvironmentFile=-/usr/local/lib/systemd/system/%N.env
KillMode=process
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/rke2 server
ExecStopPost=-/bin/sh -c "systemd-cgls /system.slice/%n | grep kubelet"
"""
SECRET = "hush"
DIGEST = hashlib.sha256(SECRET.encode()).hexdigest()


@pytest.mark.parametrize(
    ("path", "good"),
    [
        ("/var/lib/rancher/rke2/server/db/snapshots/x", True),
        ("", False),
        ("x", False),
        ("/tmp/x", False),
        ("/var/lib/rancher/rke2/../x", False),
        ("/var/lib/rancher/rke2/server/db/snapshots/x.zip", False),
    ],
)
def test_a_restore_path(path: str, good: bool) -> None:
    assert (plain(path) == ()) is good


def judged(
    unit: str = UNIT,
    variables: frozenset[str] = frozenset(),
    values: Values | Unknown | None = None,
) -> Findings:
    settings = Settings(HOST, None, {"cni": ("none",)} if values is None else values)
    configuration = Configuration((settings,), Applied(frozenset({HOST})))
    return resettable(configuration, ServerSetup(HOST, unit, variables, DIGEST), node(HOST))


@pytest.mark.parametrize(
    "unit",
    [
        UNIT,
        UNIT + "\n# /etc/systemd/system/rke2-server.service.d/proxy.conf\n"
        '[Service]\nEnvironment="HTTPS_PROXY=http://x" NO_PROXY=y\n',
        UNIT + "ExecStart=\nExecStart=/opt/rke2/bin/rke2 server\n",
        UNIT + "EnvironmentFile=\nEnvironmentFile=/etc/default/rke2-server\n",
        UNIT.replace("rke2 server\n", "rke2 \\\n  server\n"),
    ],
)
def test_a_server_that_is_started_plainly(unit: str) -> None:
    assert judged(unit) == ()


@pytest.mark.parametrize(
    ("unit", "says"),
    [
        (UNIT.replace("rke2 server", "rke2 server --server https://x"), "expected `rke2 server`"),
        (UNIT.replace("rke2 server", "rke2 agent"), "expected `rke2 server`"),
        (UNIT + "ExecStart=/usr/local/bin/rke2 server\n", "expected `rke2 server`"),
        (UNIT + "Environment=RKE2_URL=https://x RKE2_TOKEN=t\n", "`RKE2_TOKEN, RKE2_URL`"),
        (UNIT + "EnvironmentFile=/etc/other\n", "reads `/etc/other`"),
    ],
)
def test_what_the_reset_would_not_get(unit: str, says: str) -> None:
    (finding,) = judged(unit)
    assert says in finding
    assert finding.startswith("rke-cp01: ")


@pytest.mark.parametrize(
    ("variables", "good"),
    [
        (frozenset({"HTTP_PROXY", "RKE2_TOKEN", "CONTAINERD_LOG_LEVEL"}), True),
        (frozenset({"RKE2_URL"}), False),
        (frozenset({"RKE2_CONFIG_FILE"}), False),
        (frozenset({"AWS_ACCESS_KEY_ID"}), False),
    ],
)
def test_variables_that_make_the_reset_another_one(variables: frozenset[str], good: bool) -> None:
    assert (judged(variables=variables) == ()) is good


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"server": ("https://10.72.0.20:9345",)}, "sets `server` to `https://10.72.0.20:9345`"),
        ({"etcd-s3": ("True",)}, "sets `etcd-s3`"),
        ({"etcd-s3": ("False",)}, ""),
        ({"server": ()}, ""),
    ],
)
def test_keys_that_make_the_reset_another_one(values: Values, says: str) -> None:
    found = judged(values=values)
    assert bool(found) is bool(says)
    assert says in "".join(found)


def test_what_could_not_be_read_is_undecided() -> None:
    with pytest.raises(Undecided, match="no answer"):
        judged(values=Unknown("rke-cp01: no answer"))
    with pytest.raises(Undecided, match="nothing in it starts anything"):
        judged("[Service]\n")
    empty = Configuration((), Applied(frozenset()))
    setup = ServerSetup(HOST, UNIT, frozenset(), DIGEST)
    with pytest.raises(Undecided, match="was not read"):
        resettable(empty, setup, node(HOST))
    assert judged("[Service]\n", values={"server": ("x",)})


@pytest.mark.parametrize("text", [f"K10abc::server:{SECRET}\n", f"{SECRET}\n", SECRET])
def test_the_same_token_in_either_form(tmp_path: Path, text: str) -> None:
    file = tmp_path / "node-token"
    file.write_text(text)
    assert same_token(ServerSetup(HOST, UNIT, frozenset(), DIGEST), file) == ()


def test_another_token(tmp_path: Path) -> None:
    file = tmp_path / "node-token"
    file.write_text("K10abc::server:other")
    setup = ServerSetup(HOST, UNIT, frozenset(), DIGEST)
    (finding,) = same_token(setup, file)
    assert "is not the controller's" in finding
    assert "other" not in finding
    empty = ServerSetup(HOST, UNIT, frozenset(), hashlib.sha256(b"").hexdigest())
    assert "is empty" in same_token(empty, file)[0]


def test_no_token_to_compare_with_is_undecided(tmp_path: Path) -> None:
    setup = ServerSetup(HOST, UNIT, frozenset(), DIGEST)
    os.mkfifo(tmp_path / "pipe")
    for path in (None, tmp_path / "absent", tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(Undecided):
            same_token(setup, path)


def progress(size: int) -> ProgressFrom:
    member = MemberStatus(
        "https://10.72.0.21:2379", 1, 2, 2, 3, 4, 4, size, "3.6.14", learner=False
    )
    return ProgressFrom(HOST, Progress(HOST, (member,)))


def test_room_for_three_databases() -> None:
    free = {"rke-cp01": 300, "rke-cp02": 299}
    seen = (progress(50), progress(100), ProgressFrom("rke-cp03", Unknown("x")))
    (finding,) = room_for_databases(free, seen, wetopi())
    assert finding.startswith("rke-cp02: ")
    with pytest.raises(Undecided, match="no member of etcd"):
        room_for_databases(free, (ProgressFrom(HOST, Unknown("x")),), wetopi())


def test_a_unit_file_whose_quotes_are_open_is_refused() -> None:
    with pytest.raises(Misread):
        parse_unit_file(f'{UNIT}Environment="A=b\n', "rke2-server")
