"""Phase F6, read-only gates: quorum recorded, journals clean (runbook, "Phase F6")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.drills.quorum import prove
from fixtures.judge.etcd import voters_on_every_control_plane
from fixtures.judge.findings import said, together
from fixtures.judge.journal import ceases
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fixtures.core.inventory import Cluster, Node
    from fixtures.drills.memory import Began, Memory
    from fixtures.judge.findings import Findings, Wait
    from fixtures.observe.api import Api
    from fixtures.observe.etcd import Etcd
    from fixtures.observe.journal import Journals


@gate("F6-1")
def test_quorum_is_recorded_today(etcd: Etcd, cluster: Cluster) -> None:
    """Runbook F6-1: etcd member list → exactly 3 members, all started.

    STOP: member count != 3 or any member not started.
    """
    findings = voters_on_every_control_plane(etcd.membership(), cluster)
    assert not findings, said(findings)


@gate("P1")
def test_quorum_and_api_are_evidenced_just_now(etcd: Etcd, api: Api, memory: Memory) -> None:
    """Runbook P1: F6-1 with today's date, plus readyz → ok, immediately before any stop.

    STOP: any P1-P4 item not PASS → do NOT run F6-2/F6-3.
    """
    prove(etcd, api, memory)


@gate("F6-3.journal")
def test_the_journals_are_clean_since_the_restore(
    journals: Journals, cluster: Cluster, restore_began: Mapping[str, Began], wait: Wait
) -> None:
    """Runbook F6-3 step 6: no corruption, checksum, panic or db damage in any CP's journal.

    STOP: any such line, or a recurring failure to persist: the restore test is FAILED.
    """

    def look(node: Node) -> Findings:
        began, sample = restore_began[node.name], journals.of.polling()
        limits = cluster.limits
        return ceases(lambda: sample(node, began.clock), wait, limits, began.restarts)

    findings = together(*((lambda node=node: look(node)) for node in cluster.control_planes))
    assert not findings, said(findings)


@gate("F6-1R")
def test_quorum_is_recorded_after_the_restore(etcd: Etcd, cluster: Cluster) -> None:
    """Runbook F6-3: after the test, re-run F6-1.

    STOP: member count != 3 or any member not started.
    """
    findings = voters_on_every_control_plane(etcd.membership.again(), cluster)
    assert not findings, said(findings)
