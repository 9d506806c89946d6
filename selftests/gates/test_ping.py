"""B.4: three sent, three received, nothing else."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import BASTION, PING, PING_OK
from selftests.gates.world import Reply, healthy

STATISTICS = "--- 10.72.0.20 ping statistics ---\n{}, time 2005ms\n\n"


def lost(text: str, rc: int) -> Reply:
    return Reply(STATISTICS.format(text), rc=rc)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(PING_OK), "PASS"),
        (lost("3 packets transmitted, 3 received, +2 duplicates, 0% packet loss", 0), "PASS"),
        (lost("3 packets transmitted, 0 received, 100% packet loss", 1), "FAIL"),
        (lost("3 packets transmitted, 0 received, +3 errors, 100% packet loss", 1), "FAIL"),
        (lost("3 packets transmitted, 2 received, 33.3333% packet loss", 0), "FAIL"),
        (lost("10 packets transmitted, 9 received, 10% packet loss", 0), "FAIL"),
        (lost("2 packets transmitted, 2 received, 0% packet loss", 0), "FAIL"),
        (lost("3 packets transmitted, 3 received, 0% packet loss", 1), "UNKNOWN"),
        (lost("3 packets transmitted, 3 received, 10% packet loss", 0), "UNKNOWN"),
        (lost("3 packets transmitted, 4 received, 0% packet loss", 0), "UNKNOWN"),
        (Reply(PING_OK + PING_OK), "UNKNOWN"),
        (Reply("0% packet loss\n"), "UNKNOWN"),
        (Reply(""), "UNKNOWN"),
        (Reply(stderr="ping: connect: Network is unreachable\n", rc=2), "FAIL"),
        (Reply(stderr="ping: unknown host\n", rc=2), "UNKNOWN"),
        (Reply(stderr="ping: socket: Operation not permitted\n", rc=2), "UNKNOWN"),
        (Reply(PING_OK, rc=143), "UNKNOWN"),
        (Reply(stderr="bash: ping: command not found\n", rc=127), "UNKNOWN"),
        (Reply(silent="wetopi-ops01: no answer within 15 s"), "UNKNOWN"),
    ],
)
def test_ping(reply: Reply, verdict: str) -> None:
    world = healthy()
    world.say(BASTION, PING, reply)
    assert decide(world, "B.4").verdict == verdict


def test_duplicates_are_recorded() -> None:
    world = healthy()
    world.say(
        BASTION, PING, lost("3 packets transmitted, 3 received, +2 duplicates, 0% packet loss", 0)
    )
    assert decide(world, "B.4").facts["ping"]["duplicates"] == 2
