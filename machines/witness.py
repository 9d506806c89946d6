"""A second opinion about a drill's outage: the bastion asks the API by itself, by its own clock."""

from __future__ import annotations

import base64
import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import yaml

from machines import cluster, plan
from machines.container import Container
from machines.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

TOLERANCE: Final = 0.5
"""Seconds by which the two may differ (design, "Drills")."""

_END_LIMIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request: when it began, seconds since 1970, and whether `ok` came back."""

    at: float
    ready: bool


@contextmanager
def watching(record: Path) -> Iterator[None]:
    """Inside, the bastion asks; every request is a line of `record`.

    Raises:
        LabError: the lab is not up, or the asking ended by itself.
    """
    argv = [
        *Container(plan.BASTION).enter(),
        *("env", "PYTHONPATH=/usr/local/lib/machines-lab", "PYTHONDONTWRITEBYTECODE=1"),
        *("python3", "-m", "guest.watch_api"),
    ]
    with record.open("wb") as lines:
        asking = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=lines, text=True)
    try:
        assert asking.stdin is not None
        asking.stdin.write(json.dumps(_whom()) + "\n")
        asking.stdin.flush()
        yield
        if asking.poll() is not None:
            raise LabError(f"the bastion stopped asking the API: rc {asking.returncode}")
    finally:
        try:
            asking.communicate(timeout=_END_LIMIT)
        except subprocess.TimeoutExpired:
            asking.kill()
            asking.wait()


def _whom() -> dict[str, Any]:
    config = yaml.safe_load(Container(plan.CONTROL_PLANES[0]).read(cluster.KUBECONFIG))
    user, server = config["users"][0]["user"], config["clusters"][0]["cluster"]
    encoded = {
        "ca": server["certificate-authority-data"],
        "certificate": user["client-certificate-data"],
        "key": user["client-key-data"],
    }
    pems = {name: base64.b64decode(text).decode() for name, text in encoded.items()}
    return {"address": str(plan.VIP.ip), "port": plan.API_PORT, **pems}


def read(record: Path) -> list[Request]:
    """The requests of a record, in order of their beginning; the last line may be half written."""
    whole = [line for line in record.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return sorted((Request(**json.loads(line)) for line in whole), key=lambda each: each.at)


def longest_outage(requests: Sequence[Request], start: float, end: float) -> float:
    """Seconds from the first failed request of a row to the next that was answered, at most.

    Raises:
        LabError: there were no requests in that time, or the last ones failed.
    """
    inside = [each for each in requests if start <= each.at <= end]
    if not inside or not inside[-1].ready:
        raise LabError(f"the bastion's {len(inside)} requests do not cover the drill")
    longest = begun = 0.0
    for ready, row in groupby(inside, key=lambda each: each.ready):
        first = next(iter(row)).at
        if ready and begun:
            longest = max(longest, first - begun)
        begun = 0.0 if ready else first
    return longest


def drill_of(lines: Iterable[Mapping[str, Any]], gate: str) -> tuple[float, float, float]:
    """From the apply log: when a drill's sampling began and ended, and its longest outage.

    Raises:
        LabError: the log has no whole drill of that gate.
    """
    of_gate = [line for line in lines if line.get("gate") == gate]
    begun = [line["at"] for line in of_gate if line.get("step") == "begin"]
    ended = [line for line in of_gate if line.get("kind") == "sample" and "totals" in line]
    if not begun or not ended:
        raise LabError(f"the apply log has no whole drill of {gate}")
    last = ended[-1]
    start, end = (datetime.fromisoformat(text).timestamp() for text in (begun[-1], last["at"]))
    return start, end, float(last["totals"]["combined"]["longest"])
