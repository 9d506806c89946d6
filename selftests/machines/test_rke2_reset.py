"""The stand-in's cluster reset, on programs that only say what the real ones would."""

from __future__ import annotations

import base64
import dataclasses
import re
import socket
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.judge.reset import ASIDE, FLAGGED, UNTOUCHED, Ending, ending_of
from fixtures.observe.drill_units import Transient
from fixtures.observe.log_lines import parse_line
from fixtures.observe.reset import ResetRun
from machines.guest import (
    __main__ as commands,
)
from machines.guest import balancer, bootstrap, etcd, reset
from selftests.machines.control_plane import CONFIG, FIRST, furnish

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Resetting = Callable[..., ResetRun]

_MISSING_HASH = "snapshot missing hash but --skip-hash-check=false"
# Restores whatever is not called `cut`, and names the member's folder as etcdutl does.
_ETCDUTL = f"""#!/bin/sh
printf '2026-11-30T16:20:01Z\\tinfo\\tv3.go:305\\trestoring snapshot\\t{{"path": "x"}}\\n' >&2
printf '2026-11-30T16:20:01Z\\tinfo\\tbbolt\\tdb.go:322\\tOpening db\\n' >&2
case $3 in */cut) echo 'Error: {_MISSING_HASH}' >&2; exit 1;; esac
while [ "$1" != --data-dir ]; do shift; done
mkdir -p "$2/member"
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RKE2's data folder, with a snapshot that is good and one that was cut."""
    place = furnish(tmp_path, monkeypatch)
    (place / "server/db/etcd/name").write_text("rke-cp01-00000000")
    folder = place / "server/db/snapshots"
    folder.mkdir()
    for name in ("good", "cut", "good.zip"):
        (folder / name).write_text("content")
    return place


@pytest.fixture
def resetting(
    data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Resetting:
    """Runs one reset; what the suite reads of it."""
    programs = data.parent / "bin"
    programs.mkdir()
    for name, script in {"etcdutl": _ETCDUTL, "etcd": "#!/bin/sh\nexec sleep 60\n"}.items():
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setattr(balancer, "PORT", free.getsockname()[1])
    marks: set[str] = set()

    def ctl(*words: str, **_: object) -> dict[str, Any]:
        if words[0] == "put":
            marks.add(words[1])
        return {"kvs": [{"key": base64.b64encode(mark.encode()).decode()} for mark in marks]}

    monkeypatch.setattr(etcd, "ctl", ctl)
    monkeypatch.setattr(reset, "_stop_container", lambda: None)
    monkeypatch.setattr(commands, "load", lambda _: CONFIG)
    bootstrap.reconcile(CONFIG.token)

    def run(*flags: str) -> ResetRun:
        capfd.readouterr()
        status = commands.main(["server", *flags])
        lines = tuple(map(parse_line, capfd.readouterr().err.splitlines()))
        active, result = ("active", "success") if status == 0 else ("failed", "exit-code")
        unit = Transient("rke2-reset-1", "loaded", active, "exited", result, status)
        return ResetRun(FIRST.name, unit, lines)

    return run


def test_a_restore_ends_as_the_real_one(data: Path, resetting: Resetting) -> None:
    db = data / "server/db"
    path = f"--cluster-reset-restore-path={db}/snapshots/good"
    (db / "reset-flag").touch()  # of an earlier reset: a restore path ignores it
    run = resetting("--cluster-reset", path)
    assert ending_of(run).ending is Ending.SUCCEEDED
    said = [line.message for line in run.lines]
    assert {"restoring snapshot", "Opening db"} <= set(said)
    assert (db / "reset-flag").exists()
    name = (db / "etcd/name").read_text()
    assert re.fullmatch(r"rke-cp01-[0-9a-f]{8}", name)
    assert name != "rke-cp01-00000000"
    assert "force-new-cluster" in (db / "etcd/config").read_text()
    assert list(db.glob("etcd-old-*/name"))
    assert list((data / "server").glob("tls-*/server-ca.crt"))
    bare = resetting("--cluster-reset")
    assert "the reset-flag" in ending_of(bare).why


def test_a_bare_reset_keeps_the_database(data: Path, resetting: Resetting) -> None:
    run = resetting("--cluster-reset")
    assert ending_of(run).ending is Ending.SUCCEEDED
    assert (data / "server/db/etcd/name").read_text() != "rke-cp01-00000000"
    assert not list((data / "server/db").glob("etcd-old-*"))


@pytest.mark.parametrize(
    ("name", "why", "database"),
    [
        ("nope", "the snapshot is not at that path", UNTOUCHED),
        ("", "the path is a folder", UNTOUCHED),
        ("good.zip", "a compressed snapshot cannot be restored", UNTOUCHED),
        ("cut", "the snapshot was cut", ASIDE),
    ],
)
def test_a_failed_restore_says_why(
    data: Path, resetting: Resetting, name: str, why: str, database: str
) -> None:
    db = data / "server/db"
    run = resetting("--cluster-reset", f"--cluster-reset-restore-path={db}/snapshots/{name}")
    verdict = ending_of(run)
    assert verdict.ending is Ending.FAILED
    assert why in verdict.why
    assert database in verdict.why
    assert (db / "etcd").exists() is (database == UNTOUCHED)
    assert run.lines[-1].message.startswith(
        "Error: starting kubernetes: failed to start cluster: start managed database: "
    )


def test_another_token_fails_after_the_restore(data: Path, resetting: Resetting) -> None:
    path = f"{data}/server/db/snapshots/good"
    run = resetting("--token", "wrong", "--cluster-reset", f"--cluster-reset-restore-path={path}")
    verdict = ending_of(run)
    assert verdict.ending is Ending.FAILED
    assert FLAGGED in verdict.why
    assert (data / "server/db/reset-flag").exists()


def test_what_runs_or_joins_is_not_reset(
    resetting: Resetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--cluster-reset required" in resetting("--cluster-reset-restore-path=x").lines[-1].text
    with balancer.listen():
        assert "still runs" in ending_of(resetting("--cluster-reset")).why
    joining = dataclasses.replace(CONFIG, server="https://10.72.0.20:9345")
    monkeypatch.setattr(commands, "load", lambda _: joining)
    assert "this server joins another one" in ending_of(resetting("--cluster-reset")).why
