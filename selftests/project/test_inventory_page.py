"""Every key of the complete example is explained."""

from __future__ import annotations

import re

import yaml

from selftests.project.tree import ROOT

PAGE = (ROOT / "docs" / "inventory.md").read_text("utf-8")
EXAMPLE = yaml.safe_load((ROOT / "inventories" / "wetopi.yaml").read_text("utf-8"))
MAPS = ("versions", "controller", "operations", "commits", "names", "images")
"""Tables whose keys are names that gates look up."""


def told(table: str) -> set[str]:
    """The names of that table which the page has: `names.rbd_host`, or `.rbd_user` beside one."""
    found = set()
    for row in PAGE.splitlines():
        key = row.removeprefix("| ").partition(" | ")[0]
        if key.startswith(f"`{table}."):
            found |= set(re.findall(r"`(?:\w+)?\.([\w-]+)`", key))
    return found


def test_each_name_that_gates_look_up_is_explained() -> None:
    for table in MAPS:
        assert set(EXAMPLE[table]) - told(table) == set(), table


def test_each_key_is_in_the_table() -> None:
    rows = " ".join(row for row in PAGE.splitlines() if row.startswith("| `"))
    keys = set(EXAMPLE) | {"rehearsal", "hosts_json", "proxmox", "group_vars"}
    assert not {key for key in keys if f"`{key}`" not in rows}
    for table in ("bastion", "gateway", "network", "keepalived", "ceph", "tofu"):
        assert not {key for key in EXAMPLE[table] if f"`{key}`" not in rows}, table
    assert not {key for node in EXAMPLE["nodes"] for key in node if f"`{key}`" not in rows}


def test_what_is_only_commented_in_the_example_is_explained_too() -> None:
    text = (ROOT / "inventories" / "wetopi.yaml").read_text("utf-8")
    for key in ("rbd_host", "rbd_user"):
        assert f"# {key}:" in text
        assert f"`names.{key}`" in PAGE
