"""The controller's side, as the operator's workstation has it (runbook 0): below the lab's state.

Git is the real one, and so is what it says; Ansible tells its version and does no more.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from machines import dirs, plan
from machines.commands import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from machines.plan import Machine

ANSIBLE_VERSION: Final = "2.21.3"
FOLDER: Final = "controller"
INFRASTRUCTURE: Final = f"{FOLDER}/infrastructure"
DOCS: Final = f"{FOLDER}/docs"
NODE_TOKEN: Final = f"{INFRASTRUCTURE}/ansible/files/rke2/node-token"
HOSTS_JSON: Final = f"{INFRASTRUCTURE}/ansible/inventories/prod/hosts.json"
PATHS: Final = {
    "infrastructure": INFRASTRUCTURE,
    "docs": DOCS,
    "ansible_playbook": f"{INFRASTRUCTURE}/.venv/bin/ansible-playbook",
    "node_token": NODE_TOKEN,
    "hosts_json": HOSTS_JSON,
    "tmp": f"{FOLDER}/temporary",
}
"""What the inventory says of it. The last stands for /tmp, so that the host's own plays no part."""

GROUP_VARS: Final = {
    "vip": "rke2_api_vip",
    "node_lan": "node_lan",
    "pods": "rke2_cluster_cidr",
    "services": "rke2_service_cidr",
    "tls_san": "rke2_tls_san",
    "server_url": "rke2_server_url",
}
"""Which of the playbooks' shared variables hold facts of the inventory."""

_SOURCE: Final = Path(__file__).parent / "infrastructure"
_ROLES: Final = ("rke2-server", "rke2-agent")
_TASKS: Final = "ansible/roles/{role}/tasks/main.yml"
IGNORED: Final = """\
.venv/
.terraform/
*.tfplan
*.tfstate*
*.tfvars
.terraform.lock.hcl
tofu/hypervisor/
ansible/files/rke2/node-token
ansible/inventories/prod/hosts.json
"""
"""What Git is told to ignore in the infrastructure repository."""
_VARIABLES: Final = f"""\
rke2_api_vip: {plan.VIP.ip}
rke2_server_url: "https://{plan.VIP.ip}:{plan.SUPERVISOR_PORT}"
node_lan: {plan.NODE_LAN}
rke2_cluster_cidr: {plan.PODS}
rke2_service_cidr: {plan.SERVICES}
rke2_tls_san: [{", ".join(map(str, plan.TLS_SAN))}]
"""
_FOLDER_TASK: Final = """\
- name: Create the configuration's folder
  ansible.builtin.file:
    path: /etc/rancher/rke2
    state: directory
    mode: "0750"

"""
_CONFIG_TASK: Final = """\
- name: Write the configuration
  ansible.builtin.template:
    src: config.yaml.j2
    dest: /etc/rancher/rke2/config.yaml
    mode: "0600"
"""
_DECISIONS: Final = {
    f"docs/decisions/{name}.md": "Status: accepted.\n"
    for name in ("ADR-0004-rke2-api-endpoint", "ADR-0005-cilium-first-addon")
}
_ANSIBLE: Final = f"""\
#!/bin/sh
# The real one wants a newer Python than this host may have, and is never asked for more.
[ "$*" = --version ] || {{ echo "the lab's Ansible only tells its version" >&2; exit 2; }}
echo "ansible-playbook [core {ANSIBLE_VERSION}]"
echo "  config file = None"
"""
_WHO: Final = {
    f"GIT_{part}_{what}": value
    for part in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Machines Lab"),
        ("EMAIL", f"lab@{plan.BASTION.name}"),
        ("DATE", "2026-08-29T00:00:00Z"),
    )
}


def lay_out(token: str) -> dict[str, str]:
    """Make checkouts, token, inventory and venv; the commit that each checkout must contain.

    Raises:
        LabError: Git is missing, or refuses.
    """
    (dirs.state() / PATHS["tmp"]).mkdir(parents=True)
    (dirs.state() / FOLDER).chmod(0o700)
    commits = {
        "infrastructure": _infrastructure(dirs.state() / INFRASTRUCTURE),
        "docs": _docs(dirs.state() / DOCS),
    }
    _private(NODE_TOKEN, f"{token}\n")
    render_hosts()
    _private(PATHS["ansible_playbook"], _ANSIBLE)
    (dirs.state() / PATHS["ansible_playbook"]).chmod(0o700)
    return commits


def render_hosts(*, without_jump: Machine | None = None) -> None:
    """Write Ansible's inventory: each VM through the bastion, and the controller itself.

    Args:
        without_jump: a machine that Ansible is to reach directly.
    """
    jump = {"ansible_ssh_common_args": f"-o ProxyJump={plan.SSH_USER}@{plan.WAN_BASTION.ip}"}
    groups: dict[str, dict[str, dict[str, object]]] = {}
    for machine in plan.MACHINES:
        about: dict[str, object] = {
            "ansible_host": str(machine.address),
            "ansible_user": plan.SSH_USER,
        }
        if machine == plan.BASTION:
            about["ansible_host"] = str(plan.WAN_BASTION.ip)
        elif machine != without_jump:
            about |= jump
        groups.setdefault(str(machine.kind).replace("-", "_"), {})[machine.name] = about
    local = {"localhost": {"ansible_connection": "local", "ansible_become": False}}
    children = {name: {"hosts": hosts} for name, hosts in groups.items()}
    _private(HOSTS_JSON, json.dumps({"all": {"hosts": local, "children": children}}, indent=2))


def git(*arguments: str, folder: str = INFRASTRUCTURE) -> str:
    """Run Git in a checkout; what it prints.

    Raises:
        LabError: it failed.
    """
    # Nothing of the operator's settings: they may sign, or run hooks.
    nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    argv = ["git", "-C", str(dirs.state() / folder), *arguments]
    return run(argv, env={**kept, **nothing, **_WHO, "LC_ALL": "C"}).stdout.strip()


def _infrastructure(folder: Path) -> str:
    """The infrastructure checkout; the commit that made the configuration's folder."""
    _cloned(folder)
    shutil.copytree(_SOURCE, folder, dirs_exist_ok=True)
    shared = {"ansible/inventories/prod/group_vars/all.yml": _VARIABLES}
    roles = _of_roles(_CONFIG_TASK)
    _commit(folder, "Add the roles", {".gitignore": IGNORED, **shared, **roles})
    fix = _commit(
        folder, "Create /etc/rancher/rke2 before templating", _of_roles(_FOLDER_TASK + _CONFIG_TASK)
    )
    _commit(folder, "Add the workers' playbook", {"ansible/playbooks/rke2-workers.yml": "---\n"})
    _push(folder)
    return fix


def _docs(folder: Path) -> str:
    """The docs checkout; the commit that merged the decisions."""
    _cloned(folder)
    _commit(folder, "Begin", {"README.md": "Design documents.\n"})
    merged = _commit(folder, "Decide on the API endpoint and the first addon", _DECISIONS)
    _commit(folder, "Say more", {"README.md": "Design documents of the platform.\n"})
    _push(folder)
    return merged


def _of_roles(content: str) -> dict[str, str]:
    return {_TASKS.format(role=role): content for role in _ROLES}


def _cloned(folder: Path) -> None:
    origin = folder.with_name(f"{folder.name}.git")
    git("init", "--quiet", "--bare", "--initial-branch=main", str(origin), folder=FOLDER)
    git("clone", "--quiet", str(origin), str(folder), folder=FOLDER)


def _commit(folder: Path, message: str, files: Mapping[str, str]) -> str:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    at = f"{FOLDER}/{folder.name}"
    git("add", "--all", folder=at)
    git("commit", "--quiet", f"--message={message}", folder=at)
    return git("rev-parse", "HEAD", folder=at)


def _push(folder: Path) -> None:
    git("push", "--quiet", "origin", "HEAD:main", folder=f"{FOLDER}/{folder.name}")


def _private(path: str, content: str) -> None:
    place = dirs.state() / path
    place.parent.mkdir(parents=True, exist_ok=True)
    dirs.write_private(place, content)
