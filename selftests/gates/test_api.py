"""B.1 and C.2: only 200 and exactly `ok` is ready; only the API's own no is a no."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.world import healthy

GATES = ("B.1", "C.2")
FAILING = (
    b"[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n"
    b"[-]etcd-readiness failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n"
)
UNAUTHORIZED = (
    b'{\n  "kind": "Status",\n  "message": "Unauthorized",\n  "reason": "Unauthorized",\n'
    b'  "code": 401\n}\n'
)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    ("status", "body", "verdict", "says"),
    [
        (200, b"ok", "PASS", ""),
        (200, b"ok\n", "FAIL", "expected 200 and `ok`"),
        (200, b"", "FAIL", "HTTP 200"),
        (200, b"<html>ok</html>", "FAIL", "HTTP 200"),
        (200, b"\xff\xfeok", "FAIL", "HTTP 200"),
        (500, FAILING, "FAIL", "failing etcd, etcd-readiness;"),
        (500, b"ok", "FAIL", "HTTP 500"),
        (503, b"apiserver not ready", "FAIL", "apiserver not ready"),
        (302, b"ok", "FAIL", "HTTP 302"),
        (401, UNAUTHORIZED, "UNKNOWN", "something answers TLS"),
        (403, b"ok", "UNKNOWN", "403"),
    ],
)
def test_answers(gate: str, status: int, body: bytes, verdict: str, says: str) -> None:
    world = healthy()
    world.readyz(status, body)
    decided = decide(world, gate)
    assert decided.verdict == verdict
    assert says in decided.text


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    "reason",
    ["connection refused", "no route to host", "the certificate is not valid for 10.72.0.20"],
)
def test_a_refusal_is_an_answer(gate: str, reason: str) -> None:
    world = healthy()
    world.refuse(reason)
    decided = decide(world, gate)
    assert decided.verdict == "FAIL"
    assert reason in decided.text


def test_the_body_of_a_hostile_api_is_harmless_in_the_message() -> None:
    world = healthy()
    world.readyz(500, b"\x1b[2J" + b"x" * 100_000)
    text = decide(world, "B.1").text
    assert "\x1b" not in text
    assert len(text) < 600
