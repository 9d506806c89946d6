"""The reviewed line that switches Ceph routing on: the bastion's infrastructure checkout (F1)."""

from __future__ import annotations

from typing import Final

from machines import plan
from machines.container import Container

CHECKOUT: Final = "wetopi-infrastructure"
VARIABLES: Final = "ansible/inventories/prod/group_vars/all.yml"
_ME: Final = Container(plan.BASTION)
FOLDER: Final = f"/home/{plan.SSH_USER}/{CHECKOUT}"
_USER: Final = 1000


def install() -> None:
    """Make the checkout, its routing off by default.

    Raises:
        LabError: git failed.
    """
    _as_user("git", "init", "--quiet", "--initial-branch=main", FOLDER)
    _commit("Keep Ceph routing off until its gates are green", on=False)


def flip() -> None:
    """Commit the line that switches it on, with the allocated address.

    Raises:
        LabError: git failed.
    """
    _commit("Route the nodes to Ceph", on=True)


def commit(why: str, *paths: str) -> None:
    """Commit what lies there, for the operator.

    Raises:
        LabError: git failed.
    """
    _as_user("git", "-C", FOLDER, "add", *paths)
    who = ("-c", "user.name=Machines Lab", "-c", f"user.email=lab@{plan.BASTION.name}")
    _as_user("git", "-C", FOLDER, *who, "commit", "--quiet", f"--message={why}")


def variables(*, on: bool) -> str:
    """The group variables, as far as the role nat_gateway reads them."""
    address = str(plan.CEPH_GATEWAY.ip) if on else '""'
    return (
        "---\n"
        f"natgw_node_lan: {plan.NODE_LAN}\n"
        "\n"
        "# ADR-0004: routed, not NAT. Off until F1's preconditions are recorded.\n"
        f"natgw_ceph_routing_enabled: {str(on).lower()}\n"
        f"natgw_ceph_address: {address}\n"
    )


def _commit(why: str, *, on: bool) -> None:
    _as_user("install", "-d", f"{FOLDER}/{VARIABLES.rpartition('/')[0]}")
    _ME.write(f"{FOLDER}/{VARIABLES}", variables(on=on), owner=_USER)
    commit(why, VARIABLES)


def _as_user(*argv: str) -> None:
    _ME.do("runuser", "-u", plan.SSH_USER, "--", *argv)
