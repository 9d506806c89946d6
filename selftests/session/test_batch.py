"""What a phase asks for before its first gate."""

from __future__ import annotations

from fixtures.core.requests import HostCommand, is_secret
from fixtures.gates import GATES
from fixtures.session.batch import asked_ahead, requests_of
from selftests.gates.world import wetopi


def test_what_is_secret_is_not_read_before_its_own_gate() -> None:
    cluster = wetopi()
    secret = {
        gate.id: [each for each in requests_of(gate, None, cluster) if is_secret(each)]
        for gate in GATES
    }
    assert {"0.5", "F0.plan"} <= {gate for gate, asked in secret.items() if asked}
    for gate in GATES:
        ahead = asked_ahead(gate, None, cluster)
        assert not any(map(is_secret, ahead))
        assert len(ahead) + len(secret[gate.id]) == len(requests_of(gate, None, cluster))


def test_no_question_of_phase_0_reads_the_token() -> None:
    cluster = wetopi()
    path = str(cluster.controller["node_token"])
    asked = [
        each.command
        for gate in GATES
        for each in requests_of(gate, None, cluster)
        if isinstance(each, HostCommand) and path in each.command
    ]
    assert asked
    counting = ("stat -c ", "wc -lc < ", "head -c 32 ", "GIT_GRAFT_FILE=/dev/null git ")
    assert all(each.startswith(counting) for each in asked)
    assert all("| grep -c" in each for each in asked if each.startswith("head"))
