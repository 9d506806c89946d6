from __future__ import annotations

import hashlib
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.applylog import evidence
from fixtures.applylog.redact import MARK, Redactor
from fixtures.core.requests import ApiGet, HostCommand, Output, Refusal, Response, Silence

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.core.requests import Answer

AT = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
READYZ = ApiGet("10.72.0.20", "/readyz", 5)


def output(stdout: bytes = b"", stderr: bytes = b"", **more: Any) -> Output:
    request = HostCommand(
        "rke-cp01", more.pop("command", "ip addr"), 15, secret=more.pop("secret", False)
    )
    return Output(request, more.pop("rc", 0), stdout, stderr, AT, 0.12345, **more)


def entry(answer: Answer, cap: int = 4096, folder: Path | None = None) -> dict[str, Any]:
    (found,) = evidence.of([answer], cap, folder=folder)
    return dict(found)


def test_a_commands_answer() -> None:
    assert entry(output(b"out\n", b"err\n", rc=3)) == {
        "host": "rke-cp01",
        "command": "ip addr",
        "rc": 3,
        "stdout": "out\n",
        "stderr": "err\n",
        "seconds": 0.123,
        "at": "2026-11-30T03:04:05.000Z",
    }


def test_answers_of_the_api() -> None:
    assert entry(Response(READYZ, 200, b"ok", AT, 0.03)) == {
        "host": "10.72.0.20",
        "request": "GET /readyz",
        "status": 200,
        "body": "ok",
        "seconds": 0.03,
        "at": "2026-11-30T03:04:05.000Z",
    }
    refused = entry(Refusal(READYZ, "Connection refused", AT, 0.03))
    assert refused["refused"] == "Connection refused"
    assert refused["status"] is None


def test_what_was_not_answered_says_why() -> None:
    request = HostCommand("rke-cp01", "true", 15)
    silent = entry(Silence(request, "no answer; password=hunter2hunter2 \x1b[0m", AT, 15))

    assert silent["rc"] is None
    assert silent["unanswered"] == f"no answer; password={MARK} \\x1b[0m"


def test_secret_answers_are_never_evidence() -> None:
    kept = entry(output(b"-----BEGIN", b"also secret", secret=True))

    assert kept["stdout"] == "[not kept: key material, 10 bytes]"
    assert kept["stderr"] == "[not kept: key material, 11 bytes]"


def test_undecodable_and_invisible_bytes_are_spelled_out() -> None:
    kept = entry(output(b"\xff\xfe\x1b[31m\xe2\x80\xae\x00\n"))

    assert kept["stdout"] == "\\xff\\xfe\\x1b[31m\\u202e\\x00\n"


def test_commands_and_streams_are_redacted() -> None:
    kept = entry(output(b"token: abcdefgh\n", b"passwd=x\n", command="tool --password abcdefgh"))

    assert kept["stdout"] == f"token: {MARK}\n"
    assert kept["stderr"] == f"passwd={MARK}\n"
    assert kept["command"] == f"tool --password {MARK}"


def test_a_secret_asked_for_by_name_is_hidden_though_its_kind_was_cut_off() -> None:
    text = b'{"apiVersion":"v1","data":{"url":"aHR0cHM6Ly94"},"ki'

    kept = entry(output(text, command="kubectl -n argocd get secret repo -o json"))
    assert "aHR0c" not in kept["stdout"]
    assert '"url"' in kept["stdout"]


def test_a_long_stream_is_cut_and_kept_beside_the_log(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir(mode=0o700)
    text = b"".join(b"row %d\n" % number for number in range(5000))

    kept = entry(output(text), folder=tmp_path / "lab")

    digest = hashlib.sha256(text).hexdigest()
    file = tmp_path / "lab" / "evidence" / f"{digest}.txt"
    assert kept["cut"] == [
        {
            "stream": "stdout",
            "bytes": len(text),
            "sha256": digest,
            "file": f"evidence/{digest}.txt",
        }
    ]
    assert kept["stdout"].endswith(
        f"\n… {len(text) - 4096:,} bytes more; SHA-256 {digest}; kept in evidence/{digest}.txt"
    )
    assert file.read_bytes() == text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_side_file_is_redacted_too(tmp_path: Path) -> None:
    entry(output(b"password=hunter2hunter2\n" * 1000), folder=tmp_path)

    (file,) = (tmp_path / "evidence").iterdir()
    assert b"hunter2" not in file.read_bytes()


def test_no_room_for_a_side_file_is_said_and_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "evidence").write_text("not a folder")

    kept = entry(output(b"x" * 10_000), folder=tmp_path)

    assert "could not be kept" in kept["stdout"]
    assert kept["cut"][0]["file"] is None


def test_all_streams_of_a_gate_share_one_cap() -> None:
    answers = [output(b"x" * 10_000) for _ in range(40)]

    kept = evidence.of(answers, 4096)

    total = sum(len(str(each["stdout"])) for each in kept)
    assert total < evidence.GATE_CAPS * 4096 + 40 * 1300


def test_what_was_never_read_is_counted() -> None:
    assert entry(output(b"x", cut=1_000_000))["unread"] == 1_000_000


@given(st.binary(max_size=3000), st.integers(1, 64))
def test_a_cut_keeps_characters_whole(raw: bytes, cap: int) -> None:
    kept = entry(output(raw * 3), cap)
    whole = entry(output(raw * 3), 100_000)["stdout"]

    shown, _, _ = kept["stdout"].partition("\n… ")
    assert whole.startswith(shown)


def test_a_secret_across_the_border_of_a_cut_stays_in_neither_part(tmp_path: Path) -> None:
    """Where the log's part ends, and where reading ended."""
    redactor = Redactor()
    redactor.learn(secret := "Pl4nt0123456789abcdef0123")
    for before in range(1024 - len(secret), 1024):
        raw = b"x" * before + secret.encode() + b"y" * 99
        (found,) = evidence.of([output(raw)], 1024, folder=tmp_path, redactor=redactor)
        (side,) = (tmp_path / "evidence").iterdir()
        for text in (str(found["stdout"]), side.read_text()):
            assert not any(secret[at : at + 8] in text for at in range(len(secret) - 8))
        side.unlink()
    for size in range(8, len(secret)):
        answer = output(b"it said " + secret[:size].encode(), cut=size)
        (found,) = evidence.of([answer], 1024, redactor=redactor)
        assert found["stdout"] == f"it said {MARK}"
