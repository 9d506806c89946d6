"""The Git repositories that the runbook is applied from (runbook 0, items 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from lab import layout
from lab.gitops_manifest import MANIFEST, text
from lab.gitwriter import GitWriter
from lab.storage import FSID, POOL

if TYPE_CHECKING:
    from collections.abc import Mapping

_IGNORED: Final = ".venv/\nansible/files/rke2/node-token\nansible/inventories/prod/hosts.json\n"
GROUP_VARS: Final = "ansible/inventories/prod/group_vars/all.yml"
NAMES: Final = {
    "vip": "rke2_api_vip",
    "pods": "rke2_cluster_cidr",
    "services": "rke2_service_cidr",
    "tls_san": "rke2_tls_san",
    "server_url": "rke2_server_url",
}
"""The variables that hold the cluster's facts; but for the last one the names are the lab's own."""
_SANS: Final = "".join(f"  - {address}\n" for address in layout.TLS_SAN)
_VARIABLES: Final = f"""\
# What all plays of the cluster share.
rke2_api_vip: {layout.VIP}
rke2_server_url: "https://{layout.VIP}:9345"
rke2_cluster_cidr: {layout.PODS}
rke2_service_cidr: {layout.SERVICES}
rke2_tls_san:
{_SANS}natgw_ceph_routing_enabled: false
natgw_ceph_address: ""
"""
_TASKS: Final = "ansible/roles/{role}/tasks/main.yml"
_INSTALL: Final = "- name: Create the configuration\n  ansible.builtin.template:\n"
_FOLDER: Final = "- name: Create the folder\n  ansible.builtin.file:\n    mode: '0750'\n"
_ROLES: Final = ("rke2-server", "rke2-agent")


def _roles(content: str) -> dict[str, str]:
    return {_TASKS.format(role=role): content for role in _ROLES}


def _ceph(cluster: str, monitor: str) -> dict[str, str]:
    values = f"csiConfig:\n  - clusterID: {cluster}\n    monitors:\n      - {monitor}\n"
    storage_class = (
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: ceph-rbd\n"
        f"provisioner: rbd.csi.ceph.com\nparameters:\n  clusterID: {cluster}\n  pool: {POOL}\n"
    )
    # Comments may still name what stood there.
    return {
        "kubernetes/ceph-csi/values.yaml": f"# clusterID: <cluster-id>, see README\n{values}",
        "kubernetes/ceph-csi/storageclass.yaml": storage_class,
    }


# Message and files of each commit, oldest first (runbook, STEP 0; handbook 2.1).
_INFRASTRUCTURE: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    (
        "Add the Cilium addon",
        {
            ".gitignore": _IGNORED,
            "ansible/playbooks/cilium.yml": "---\n",
            GROUP_VARS: _VARIABLES,
        },
    ),
    ("Add the agent role", _roles(_INSTALL)),
    ("Create /etc/rancher/rke2 before templating", _roles(_FOLDER + _INSTALL)),
    ("Add the workers' playbook", {"ansible/playbooks/rke2-workers.yml": "---\n"}),
    ("Add Argo CD", {"kubernetes/gitops/app.root.yaml": "kind: Application\n", MANIFEST: text()}),
    ("Add the CSI driver", _ceph("<cluster-id>", "<MONValue1>")),
    ("Name the Ceph cluster", _ceph(FSID, "192.168.96.10:6789")),
)
_DOCS: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("Begin", {"README.md": "Design documents.\n"}),
    (
        "Decide on the API endpoint and on Cilium as the first addon",
        {
            "docs/decisions/ADR-0004-rke2-api-endpoint.md": "Accepted.\n",
            "docs/decisions/ADR-0005-cilium-first-addon.md": "Accepted.\n",
        },
    ),
    ("Say more", {"README.md": "Design documents of the platform.\n"}),
)
_FIX, _DECISIONS = 2, 1


@dataclass(frozen=True, slots=True)
class History:
    """A repository's reviewed line.

    Attributes:
        commits: ids, oldest first.
        wanted: the one that a checkout must contain.
        writer: writes a checkout of the newest.
        before: writes a checkout of the one before the wanted.
        unfilled: writes a checkout of the one before the newest.
    """

    commits: tuple[str, ...]
    wanted: str
    writer: GitWriter
    before: GitWriter
    unfilled: GitWriter


@cache
def infrastructure() -> History:
    """The infrastructure repository."""
    return _history(_INFRASTRUCTURE, _FIX)


@cache
def docs() -> History:
    """The repository of the design documents."""
    return _history(_DOCS, _DECISIONS)


def _history(told: tuple[tuple[str, Mapping[str, str]], ...], wanted: int) -> History:
    whole, before, unfilled = GitWriter(), GitWriter(), GitWriter()
    commits = tuple(whole.commit(*each) for each in told)
    for each in told[:wanted]:
        before.commit(*each)
    # A clone has the whole line, whatever is checked out.
    for each in told[:-1]:
        unfilled.commit(*each)
    before.objects |= whole.objects
    unfilled.objects |= whole.objects
    return History(commits, commits[wanted], whole, before, unfilled)
