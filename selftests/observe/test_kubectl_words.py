"""What kubectl says on stderr, and what only stands beside it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fixtures.core.requests import HostCommand, Output
from fixtures.observe.kube import words

KLOG = "1130 12:58:35.959488     825 memcache.go:265] "
METRICS = "couldn't get resource list for metrics.k8s.io/v1beta1: the server cannot handle it"
NOT_FOUND = 'Error from server (NotFound): configmaps "x" not found'


def said(*lines: str, group: str = "") -> tuple[str, ...]:
    request = HostCommand("rke-cp01", "kubectl get x", 1)
    stderr = "".join(f"{line}\n" for line in lines).encode()
    return words(Output(request, 1, b"", stderr, datetime.now(UTC), 0.1), group)


@pytest.mark.parametrize(
    "beside",
    [
        f'E{KLOG}"Unhandled Error" err="{METRICS}"',
        f"E{KLOG}{METRICS}",
        f"W{KLOG}the cached discovery is stale",
        f"I{KLOG}anything",
        "Warning: v1 ComponentStatus is deprecated in v1.19+",
        "sudo: unable to resolve host rke-cp01: Name or service not known",
        "/bin/bash: warning: setlocale: LC_ALL: cannot change locale (de_DE.UTF-8)",
        "sh: line 1: warning: setlocale: LC_ALL: cannot change locale (de_DE.UTF-8)",
        "",
    ],
)
def test_what_stands_beside_it(beside: str) -> None:
    assert said(beside) == ()
    assert said(beside, NOT_FOUND, beside) == (NOT_FOUND,)


@pytest.mark.parametrize(
    "line",
    [
        NOT_FOUND,
        'error: the server doesn\'t have a resource type "x"',
        f'E{KLOG}"Unhandled Error" err="couldn\'t get current server API group list: refused"',
        f"E{KLOG}couldn't get resource list for v1: refused",
        f"F{KLOG}fatal",
        "W1130 not klog",
        "sudo: a password is required",
        "bash: line 1: kubectl: command not found",
        "The connection to the server 127.0.0.1:6443 was refused",
        f"said {METRICS}",
    ],
)
def test_what_it_says(line: str) -> None:
    assert said(line) == (line,)


def test_the_group_that_was_asked_for_is_never_beside() -> None:
    line = f"E{KLOG}{METRICS}"
    assert said(line, group="metrics.k8s.io") == (line,)
    assert said(line, group="k8s.io") == ()
