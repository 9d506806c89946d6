"""`cilium status` as text: colours and drawing, in a pipe too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.tools.cilium_status import Collected

_RED, _YELLOW, _BLUE, _GREEN = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[32m"
_MAGENTA, _CYAN, _RESET = "\x1b[35m", "\x1b[36m", "\x1b[0m"
_ROWS = (
    ("Cilium:", "cilium"),
    ("Operator:", "cilium-operator"),
    ("Envoy DaemonSet:", "cilium-envoy"),
    ("Hubble Relay:", "hubble-relay"),
    ("ClusterMesh:", "clustermesh-apiserver"),
)
_DRAWING = (
    f"{_YELLOW}    /¯¯\\\n{_CYAN} /¯¯{_YELLOW}\\__/{_GREEN}¯¯\\{_RESET}",
    f"{_CYAN} \\__{_RED}/¯¯\\{_GREEN}__/{_RESET}",
    f"{_GREEN} /¯¯{_RED}\\__/{_MAGENTA}¯¯\\{_RESET}",
    f"{_GREEN} \\__{_BLUE}/¯¯\\{_MAGENTA}__/{_RESET}",
    f"{_BLUE}    \\__/{_RESET}",
)


def summary(found: Collected) -> str:
    """The whole text."""
    lines = [
        f"{drawn}    {title:<18} {_word(found, name)}"
        for drawn, (title, name) in zip(_DRAWING, _ROWS, strict=True)
    ]
    lines.append("")
    for name, counts in found.counts.items():
        told = [f"Desired: {counts['Desired']}"] if counts["Desired"] else []
        told += [
            f"{word}: {_GREEN}{counts[word]}/{counts['Desired']}{_RESET}"
            for word in ("Ready", "Available", "Unavailable")
            if counts[word]
        ]
        lines.append(f"{counts['Type']:<22} {name:<24} {', '.join(told)}")
    everybody, managed = found.pods
    lines.append(f"{'Cluster Pods:':<22} {managed}/{everybody} managed by Cilium")
    lines.append(f"{'Helm chart version:':<22} {found.chart}")
    for title, warning in (("Errors:", False), ("Warnings:", True)):
        rows = [row for row in found.troubles if row[3] is warning]
        for number, (name, pod, text, _) in enumerate(rows):
            head = "" if number else title
            lines.append(f"{head:<22} {name:<16} {pod:<24} {text}")
    return "".join(f"{line}\n" for line in lines)


def _word(found: Collected, name: str) -> str:
    own = [warning for component, _, _, warning in found.troubles if component == name]
    words = []
    if own.count(False):
        words.append(f"{_RED}{own.count(False)} errors{_RESET}")
    if own.count(True):
        words.append(f"{_YELLOW}{own.count(True)} warnings{_RESET}")
    if name in found.disabled:
        words.append(f"{_CYAN}disabled{_RESET}")
    return ", ".join(words) or f"{_GREEN}OK{_RESET}"
