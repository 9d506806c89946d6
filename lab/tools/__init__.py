"""The programs of the lab's hosts, one command family a file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lab.tools.call import Call, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.shell import Shell
    from lab.streams import Streams

# Family file and the programs in it; kept as text so that a lab imports what is used.
_FAMILIES = {
    "ansible": ("ansible-playbook",),
    "argocd": ("argocd",),
    "busybox": ("busybox",),
    "cilium": ("cilium",),
    "clocks": ("date", "sleep", "timeout"),
    "curl": ("curl",),
    "etcdctl": ("etcdctl",),
    "files": ("cat", "head", "readlink", "sha256sum", "tail", "wc"),
    "changing": ("chmod", "mkdir", "mv", "rm", "sync", "touch"),
    "crictl": ("crictl",),
    "dumps": ("od", "xxd"),
    "listing": ("find", "ls", "stat"),
    "hubble": ("hubble",),
    "git": ("git",),
    "helm": ("helm",),
    "identity": (
        "echo",
        "env",
        "false",
        "getent",
        "hostname",
        "id",
        "printf",
        "true",
        "uname",
        "whoami",
        "which",
    ),
    "ip": ("ip",),
    "journalctl": ("journalctl",),
    "kernel": ("arping", "sysctl"),
    "kubectl": ("kubectl",),
    "network": ("nc.openbsd", "ping"),
    "nft": ("nft",),
    "pods": ("in-pod",),
    "power": ("reboot", "shutdown"),
    "processes": ("pgrep", "ss"),
    "proxmox": ("qm",),
    "rbd": ("rbd",),
    "rke2": ("rke2", "rke2-killall.sh"),
    "sudo": ("sudo",),
    "shells": ("bash", "dash", "xargs"),
    "storage": ("dd", "df", "findmnt"),
    "systemctl": ("systemctl",),
    "systemd_run": ("systemd-run",),
    "temporary": ("mktemp",),
    "text": ("cut", "grep", "sed", "sort", "tr", "uniq"),
    "tests": ("[", "test"),
    "tofu": ("tofu",),
    "tracing": ("tracepath", "traceroute"),
}
_FAMILY_OF = {program: family for family, names in _FAMILIES.items() for program in names}

# Where a fresh Ubuntu has them. `keepalived`, `kubectl` and `rke2` come with the runbook's roles.
_ADDED_LATER = frozenset(
    {
        "ansible-playbook",
        "argocd",
        "cilium",
        "crictl",
        "etcdctl",
        "helm",
        "hubble",
        "in-pod",
        "kubectl",
        "qm",
        "rbd",
        "rke2",
        "rke2-killall.sh",
        "tofu",
    }
)
PROGRAMS = {program: f"/usr/bin/{program}" for program in _FAMILY_OF if program not in _ADDED_LATER}
_ON_OTHER_HOSTS = frozenset(
    {"kubectl", "keepalived", "rke2", "crictl", "cilium", "hubble", "helm", "argocd", "qm"}
)


def known_programs() -> frozenset[str]:
    """Programs whose absence on a host is a fact of the model, not a gap of the lab."""
    return frozenset(PROGRAMS) | _ON_OTHER_HOSTS


async def run_program(program: str, shell: Shell, argv: Sequence[str], streams: Streams) -> int:
    """Run one program; its exit status."""
    family = _FAMILY_OF.get(program)
    call = Call(shell, tuple(argv), streams)
    if family is None:
        call.mystery(f"program {program}")
        call.complain(f"{argv[0]}: not part of the lab")
        return 1
    function = getattr(import_module(f"lab.tools.{family}"), _function_name(program))
    try:
        rc = await function(call)
    except UsageError as error:
        call.mystery(f"{program}: {error.text.splitlines()[0]}")
        call.complain(error.text)
        return error.rc
    return int(rc)


def _function_name(program: str) -> str:
    special = {"[": "bracket", "true": "true_", "false": "false_", "nc.openbsd": "nc"}
    return special.get(program, program.removesuffix(".sh").replace("-", "_"))
