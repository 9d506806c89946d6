"""What k3s v1.36.3 with etcd 3.6.14 really printed, as RKE2 would have said it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from selftests.observe.captured import CAPTURES, Captured

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(
    r"^\[(?P<host>\S+) [\d:]+\] \$ k3s (?P<command>.*)\n--stdout\n(?P<stdout>(?:.*\n)*?)"
    r"--stderr\n(?P<stderr>(?:.*\n)*?)--rc (?P<rc>\d+) ",
    re.MULTILINE,
)


@cache
def text(name: str) -> str:
    """A capture with RKE2's data folder and program name."""
    captured = (CAPTURES / f"k3s-{name}.out").read_text()
    return captured.replace("<data-dir>", "/var/lib/rancher/rke2").replace("k3s.io/", "rke2.io/")


def runs(name: str, command: str) -> list[tuple[str, Captured]]:
    """Host and answer of every run of `k3s <command>` (a regular expression)."""
    found = [each for each in _runs(name) if re.search(command, each[1].command)]
    assert found, f"k3s-{name}.out has no `{command}`"
    return found


def _runs(name: str) -> Iterator[tuple[str, Captured]]:
    for match in _BLOCK.finditer(text(name)):
        yield (
            match["host"],
            Captured(match["command"], match["stdout"], match["stderr"], int(match["rc"])),
        )
