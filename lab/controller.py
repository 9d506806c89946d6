"""The controller's side of a lab: what the operator's workstation has, in the lab's own folder.

Real Git and a real shell answer there.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Final

from lab import checkouts, layout, operations
from lab.provision import join_secret

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lab.checkouts import History
    from lab.scenario import ControllerFile
    from lab.world import World

TMP: Final = "tmp"
"""Stands for the controller's /tmp, so that what lies in the machine's own plays no part."""

INFRASTRUCTURE: Final = "infrastructure"
DOCS: Final = "docs"
NODE_TOKEN: Final = f"{INFRASTRUCTURE}/ansible/files/rke2/node-token"
HOSTS_JSON: Final = f"{INFRASTRUCTURE}/ansible/inventories/prod/hosts.json"
ANSIBLE: Final = f"{INFRASTRUCTURE}/.venv/bin/ansible-playbook"
_OWN: Final = frozenset({TMP, INFRASTRUCTURE, DOCS})
_ANSIBLE: Final = """\
#!/bin/sh
[ "$*" = --version ] || { echo "the lab only tells its version" >&2; exit 2; }
echo "ansible-playbook [core {version}]"
echo "  python version = 3.12.3 (main, Aug 14 2026) [GCC 13.2.0]"
"""


def lay_out(folder: Path, world: World, port: int, files: Iterable[ControllerFile]) -> None:
    """Make the controller's side, and what scenarios put there or take away.

    Args:
        folder: of the lab.
        world: whose controller it is.
        port: of the bastion, on loopback.
        files: of scenarios, in their order.
    """
    (folder / TMP).mkdir(mode=0o700, exist_ok=True)
    files = tuple(files)
    states = {file.path: file.git for file in files if file.git}
    for name, history in ((INFRASTRUCTURE, checkouts.infrastructure()), (DOCS, checkouts.docs())):
        _check_out(folder / name, history, states.get(name, ""))
    private = {
        NODE_TOKEN: f"{join_secret(world)}\n",
        HOSTS_JSON: _hosts(world, port),
        ANSIBLE: _ANSIBLE.replace("{version}", operations.VERSIONS["ansible-core"]),
    }
    for path, content in private.items():
        _write(folder / path, content)
    (folder / ANSIBLE).chmod(0o700)
    for file in files:
        if file.git:
            continue
        place = folder / (file.path if file.path.split("/")[0] in _OWN else _inside(file.path))
        if file.delete:
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            continue
        if file.content is not None or not place.exists():
            _write(place, file.content or "")
        if file.mode is not None:
            place.chmod(file.mode)


def _check_out(folder: Path, history: History, state: str) -> None:
    """A checkout as a scenario wants it; as it should be by default."""
    if state in {"behind", "unfilled"}:
        writer = history.before if state == "behind" else history.unfilled
        writer.write(folder, fetched=history.commits[-1])
    else:
        history.writer.write(folder, fetched=history.commits[-2] if state == "unreviewed" else "")
    if state == "unfetched":
        (folder / ".git/refs/remotes/origin/main").unlink()


def _hosts(world: World, port: int) -> str:
    """Ansible's inventory as it is rendered: each VM through the bastion, the controller local."""
    bastion = world.layout.bastion
    jump = {"ansible_ssh_common_args": f"-o ProxyJump={layout.USER}@127.0.0.1:{port}"}
    hosts: dict[str, dict[str, object]] = {
        machine.name: {"ansible_host": machine.address, "ansible_user": layout.USER, **jump}
        for machine in world.layout.machines
    }
    hosts[bastion.name] = {"ansible_host": "127.0.0.1", "ansible_port": port}
    hosts["localhost"] = {"ansible_connection": "local", "ansible_become": False}
    return json.dumps({"all": {"hosts": hosts}}, indent=2) + "\n"


def _inside(path: str) -> str:
    """A path that names none of the controller's folders is one of the infrastructure checkout."""
    return f"{INFRASTRUCTURE}/{path}"


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(content)
