"""On the way to Ceph the lab's tools print what real ones printed in the same state."""

from __future__ import annotations

import re

import pytest

from selftests.lab.world import ask, world_at
from selftests.observe.captured import Captured, like

NODE, GATEWAY = "rke-cp01", "wetopi-natgw01"
# What differs between two honest runs.
VARIABLE = (
    (r"= \d[\d./]* ms", "= T"),
    (r"time=[\d.]+ ms", "time=T"),
    (r" +\d+\.\d{3} ?ms", " T"),
    (r"time \d+ms", "time T"),
    (r"(?<=\[)(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?=\])", "MAC"),
)


def alike(text: str) -> str:
    """The text without times and hardware addresses."""
    for pattern, name in VARIABLE:
        text = re.sub(pattern, name, text)
    return text.rstrip()


@pytest.mark.parametrize(
    ("host", "command", "note", "fault"),
    [
        (NODE, "traceroute -n -N", "all is well", None),
        (NODE, "tracepath", "all is well", None),
        (NODE, "ping -n -c 3 -W 2 192", "all is well", None),
        (NODE, "ping .* -s 1472", "all is well", None),
        (NODE, "ping .* -s 1473", "all is well", None),
        (GATEWAY, "arping", "somebody has it", None),
        (GATEWAY, "arping", "nobody else has it", None),
        (GATEWAY, "busybox arping", "somebody has it", None),
        (GATEWAY, "busybox arping", "nobody else has it", None),
        (GATEWAY, "arping", "no such leg", None),
        (NODE, "traceroute", "the gateway drops", ("ceph-rule-missing", "out")),
        (NODE, "tracepath", "the gateway drops", ("ceph-rule-missing", "out")),
        (NODE, "ping", "the gateway drops", ("ceph-rule-missing", "out")),
        (NODE, "traceroute", "nobody answers the gateway's ARP", "ceph-monitor-silent"),
        (NODE, "tracepath", "nobody answers the gateway's ARP", "ceph-monitor-silent"),
        (NODE, "ping", "nobody answers the gateway's ARP", "ceph-monitor-silent"),
    ],
)
def test_a_tool_prints_the_same(
    host: str, command: str, note: str, fault: str | tuple[str, object] | None
) -> None:
    (measured,) = like("ceph-way.out", rf"^{command}.*# {note}$")
    typed = measured.command.partition("  #")[0]
    root = "sudo -n " if host == GATEWAY else ""
    said = ask(world_at("f", *([fault] if fault else [])), host, f"{root}{typed}")
    assert said.rc == measured.rc
    assert alike(said.out) == alike(measured.stdout)
    assert alike(said.err) == alike(measured.stderr)


def test_a_missing_setting_is_told_beside_the_others() -> None:
    (measured,) = like("ceph-way.out", r"^sysctl")
    assert isinstance(measured, Captured)
    said = ask(world_at("f"), GATEWAY, measured.command)
    assert (said.rc, said.err) == (measured.rc, measured.stderr)
    assert [line.partition(" = ")[0] for line in said.out.splitlines()] == [
        line.partition(" = ")[0] for line in measured.stdout.splitlines()
    ]
