"""Secret values that the lab planted, looked for in what the suite wrote and printed."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

from machines import ceph_secret, cluster, controller, dirs, plan, tofu
from machines.container import Container

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_KEY: Final = re.compile(r'"secret": *"([^"]+)"')


def values() -> dict[str, str]:
    """What a value is → the value, of the running lab.

    Raises:
        LabError: it is not up.
    """
    configuration = Container(plan.CONTROL_PLANES[0]).read(cluster.ENCRYPTION)
    keys = {
        f"encryption key {number}": key for number, key in enumerate(_KEY.findall(configuration))
    }
    return {
        "the join token": (dirs.state() / controller.NODE_TOKEN).read_text().strip(),
        "the hypervisor's password": tofu.PASSWORD,
        "the Ceph user's key": ceph_secret.KEY,
        **keys,
    }


def shown(folder: Path, planted: Mapping[str, str]) -> list[str]:
    """Where in a folder's files one of the values stands, as it is or in base64.

    Args:
        folder: reports, and what pytest printed.
        planted: what a value is → the value.
    """
    sought = {
        text: what
        for what, value in planted.items()
        for text in (value.encode(), base64.b64encode(value.encode()).rstrip(b"="))
    }
    return [
        f"{what} is in {path}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for text, what in sought.items()
        if text in path.read_bytes()
    ]
