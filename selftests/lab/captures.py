"""Measured outputs, cut to what is compared, and a form in which two of them can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "captures"

# What differs between two honest runs: ids, names, addresses, times, sizes.
_VARIABLE = (
    (r'"(cluster_id|member_id|ID|leader)":"?[0-9a-f]+"?', r'"\1":ID'),
    (r"https?://[\d.]+:\d+", "URL"),
    (r"\d+\.\d+\.\d+\.\d+:\d+", "HOST:PORT"),
    (r'"name":"[^"]+"', '"name":NAME'),
    (r"(?m)^[0-9a-f]{12,16}, ", "ID, "),
    (r"(?<=, )[0-9a-f]{12,16}(?=, )", "ID"),
    (r", (started|unstarted), [^,]*,", r", \1, NAME,"),
    (r'"took":"[^"]+"', '"took":TIME'),
    (r"took = [\d.]+m?s", "took = TIME"),
    (r'"(revision|raft\w+|dbSize\w*)":\d+', r'"\1":N'),
    (r", 3\.6\.14, 3\.6\.0, .*?, (true|false), ", r", 3.6.14, 3.6.0, SIZES, \1, "),
    (r"(true|false), \d+, \d+, \d+, , , false", r"\1, N, N, N, , , false"),
    (r'(?m)^\{"level":"warn".*$', "{WARNING}"),
    (r"(?m)^E\d{4} [\d:.]+ +\d+ memcache", "E memcache"),
    (r"link-netnsid \d+|@\w+(?=:)", ""),
    (r"(?m)^\d+: ", "N: "),
    (r"qdisc \w+", "qdisc Q"),
    (r'"(link|link_index|link_netnsid|ifindex)":[^,]+,', ""),
    (r'"qdisc":"\w+"', '"qdisc":Q'),
    (r"time=[\d.]+ ms", "time=T"),
    (r"time \d+ms", "time T"),
    (r"= [\d./]+ ms", "= T"),
    (r"\d+\.\d+\.\d+\.\d+(?!/)", "ADDRESS"),
    (r"\buid \d+", "uid N"),
    (r" +\n", "\n"),
)


@dataclass(frozen=True)
class Capture:
    """One measured command."""

    command: str
    out: str
    err: str
    rc: int


def load(name: str) -> dict[str, Capture]:
    """The captures of a file by their labels."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    pattern = r"## ([^\n]*)\n\$ ([^\n]*)\n--stdout\n(.*?)--stderr\n(.*?)--rc (\d+)\n"
    return {
        label: Capture(command, out, err, int(rc))
        for label, command, out, err, rc in re.findall(pattern, text, re.DOTALL)
    }


def comparable(text: str) -> str:
    """The text with everything that may differ replaced."""
    for pattern, replacement in _VARIABLE:
        text = re.sub(pattern, replacement, text)
    return text
