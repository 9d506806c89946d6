"""Phase 0, preconditions (runbook, "0. Preconditions")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.judge.ansible_hosts import reaches_all
from fixtures.judge.at_rest import encrypted
from fixtures.judge.checkout import recorded
from fixtures.judge.cluster_facts import compared, facts_agree, variables_agree
from fixtures.judge.encryption import nothing_to_encrypt, protected, settled
from fixtures.judge.findings import said, together
from fixtures.judge.preconditions import (
    controller_ready,
    decisions_merged,
    infrastructure_reviewed,
    token_private,
)
from fixtures.judge.vm_snapshots import names_the_rest, old_enough
from fixtures.judge.vm_snapshots import recorded as dated
from fixtures.session.marks import gate

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from fixtures.core.inventory import Cluster
    from fixtures.core.statements import Statement
    from fixtures.judge.findings import Wait
    from fixtures.observe.ansible_hosts import AnsibleHosts
    from fixtures.observe.checkouts import Checkouts
    from fixtures.observe.controller import Controllers
    from fixtures.observe.encryption import Encryption
    from fixtures.observe.group_variables import GroupVariablesOf
    from fixtures.observe.proxmox import Proxmox
    from fixtures.observe.rke2 import Rke2
    from fixtures.observe.token_file import TokenFiles
    from fixtures.trials.own_secret import OwnSecret

    Record = Callable[[str, object], None]
    Defer = Callable[[str], NoReturn]


@gate("0.1")
def test_the_decisions_are_merged(checkouts: Checkouts, record: Record) -> None:
    """Runbook 0.1: ADR-0004 and ADR-0005 merged in docs main (merge commit 5740404).

    STOP: the decisions are not merged.
    """
    seen = checkouts.docs()
    record("docs", recorded(seen.checkout))
    findings = decisions_merged(seen)
    assert not findings, said(findings)


@gate("0.2")
def test_the_infrastructure_checkout_is_reviewed_and_clean(
    checkouts: Checkouts, record: Record
) -> None:
    """Runbook 0.2, STEP 0 gate: `log --oneline -1` shows d553643 or a verified descendant.

    STOP: 8d836e8 is no longer sufficient.
    """
    seen = checkouts.infrastructure()
    record("infrastructure", recorded(seen.checkout))
    findings = infrastructure_reviewed(seen)
    assert not findings, said(findings)


@gate("0.3")
def test_main_is_protected(statement: Callable[[], Statement]) -> None:
    """Runbook 0.3: main is the reviewed line; all changes land by PR; never commit to it directly.

    STOP: main is not protected.
    """
    statement()


@gate("0.4")
def test_the_join_token_is_private(token_file: TokenFiles) -> None:
    """Runbook 0.4: `stat -c '%a' ansible/files/rke2/node-token` → 600; 32 hex; never commit it.

    STOP: missing, or not 0600.
    """
    findings = token_private(token_file.seen())
    assert not findings, said(findings)


@gate("0.5")
def test_the_ansible_inventory_reaches_every_vm(
    ansible_hosts: AnsibleHosts, cluster: Cluster
) -> None:
    """Runbook 0.5: mode 600, ProxyJump for every non-bastion VM; 0.9: an ungrouped localhost.

    STOP: render it anew.
    """
    findings = reaches_all(ansible_hosts.rendered(), cluster)
    assert not findings, said(findings)


@gate("0.6")
def test_each_vm_has_its_snapshot(
    proxmox: Proxmox, statement: Callable[[], Statement], cluster: Cluster, record: Record
) -> None:
    """Runbook 0.6: `qm snapshot <vmid> pre-rke2-apply` of every VM, from its Proxmox node.

    STOP: a VM without its snapshot has no rollback.
    """
    seen = proxmox.snapshots()
    record("snapshots", dated(seen, cluster))
    findings = together(
        lambda: old_enough(seen, cluster.limits), lambda: names_the_rest(statement, cluster)
    )
    assert not findings, said(findings)


@gate("0.7")
def test_the_clusters_facts_agree(
    group_variables: GroupVariablesOf, cluster: Cluster, record: Record
) -> None:
    """Runbook 0.7: VIP in the node LAN, disjoint CIDRs, tls-san = VIP and control planes.

    STOP: the facts do not fit together.
    """
    record("compared", compared(cluster))
    findings = together(
        lambda: facts_agree(cluster), lambda: variables_agree(group_variables.named(), cluster)
    )
    assert not findings, said(findings)


@gate("0.8")
def test_secrets_are_encrypted_at_rest(
    rke2: Rke2, encryption: Encryption, own_secret: OwnSecret, wait: Wait, defer: Defer
) -> None:
    """Runbook 0.8: the measured-protection checks (i) and (ii); before B there is nothing to ask.

    STOP: plaintext visible: protection NOT confirmed.
    """
    if reason := nothing_to_encrypt(rke2.applied(), encryption.cluster):
        defer(reason)
    limits, cluster = encryption.cluster.limits, encryption.cluster
    seen = settled(encryption.everywhere.polling(), wait, limits)
    findings = together(lambda: protected(seen, cluster), lambda: encrypted(own_secret.stored()))
    assert not findings, said(findings)


@gate("0.9")
def test_the_controller_is_ready(controller: Controllers, cluster: Cluster, record: Record) -> None:
    """Runbook 0.9: ansible-core 2.21.3 in the venv; the SSH path opens a sudo-capable shell.

    STOP: verify before phases B and C.
    """
    seen = controller.ready()
    record("ansible-core", str(seen.ansible.version))
    findings = controller_ready(seen, cluster)
    assert not findings, said(findings)
