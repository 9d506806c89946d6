"""E.0: the administrator's kubeconfig on ops01, held against cp01's."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.installed import (
    FIRST,
    OPS,
    READ_KUBECONFIG,
    READ_ORIGINAL,
    installed,
    kubeconfigs,
)
from selftests.gates.test_provisioning import LOCALE, provisioned
from selftests.gates.world import Reply
from selftests.lab.world import ask, world_at

ORIGINAL, THERE = kubeconfigs()
HEAD = "600 ubuntu regular file\n"


def faulty(fault: str) -> str:
    return ask(world_at("e", fault), OPS, "cat secrets/rke2-admin-kubeconfig").out


@pytest.mark.parametrize(
    ("text", "verdict", "said"),
    [
        (f"{HEAD}{THERE}", "PASS", ""),
        (f"644 ubuntu regular file\n{THERE}", "FAIL", "mode `644`, expected 600"),
        (f"400 ubuntu regular file\n{THERE}", "FAIL", "mode `400`, expected 600"),
        (f"{HEAD}{ORIGINAL}", "FAIL", "leads to `https://127.0.0.1:6443`"),
        (f"{HEAD}{THERE.replace(':6443', ':6444')}", "FAIL", "leads to"),
        (HEAD + faulty("ops-kubeconfig-foreign"), "FAIL", "another CA"),
        (HEAD + faulty("ops-kubeconfig-expired"), "FAIL", "another client certificate"),
        ("600 ubuntu regular empty file\n", "FAIL", "is not the kubeconfig that RKE2 writes"),
        (f"{HEAD}kind: Config\n", "FAIL", "is not the kubeconfig"),
        (THERE, "UNKNOWN", "gave no mode and content"),
        ("", "UNKNOWN", "gave no mode and content"),
    ],
    ids=range(11),
)
def test_kubeconfig(text: str, verdict: str, said: str) -> None:
    decided = provisioned(READ_KUBECONFIG, Reply(text))
    assert decided.verdict == verdict, decided.text
    assert said in decided.text
    assert "LS0t" not in decided.text


@pytest.mark.parametrize(
    ("stderr", "verdict"),
    [
        ("stat: cannot statx '/home/ubuntu/secrets/x': No such file or directory\n", "FAIL"),
        (f"{LOCALE}stat: cannot statx 'x': No such file or directory\n", "FAIL"),
        ("stat: cannot statx '/home/ubuntu/secrets/x': Permission denied\n", "UNKNOWN"),
        ("cat: /home/ubuntu/secrets/x: No such file or directory\n", "UNKNOWN"),
    ],
)
def test_a_kubeconfig_that_cannot_be_read(stderr: str, verdict: str) -> None:
    assert provisioned(READ_KUBECONFIG, Reply(stderr=stderr, rc=1)).verdict == verdict


@pytest.mark.parametrize(
    "reply",
    [
        Reply(silent="rke-cp01: no answer"),
        Reply(rc=1, stderr="sudo: a password is required\n"),
        Reply(rc=1, stderr="cat: rke2.yaml: No such file or directory\n"),
        Reply("kind: Config\n"),
        Reply(),
    ],
)
def test_without_cp01s_own_nothing_is_current(reply: Reply) -> None:
    assert provisioned(READ_ORIGINAL, reply, FIRST).verdict == "UNKNOWN"
    world = installed()
    world.say(FIRST, READ_ORIGINAL, reply)
    world.say(OPS, READ_KUBECONFIG, Reply(f"644 ubuntu regular file\n{THERE}"))
    assert decide(world, "E.0").verdict == "FAIL"


def test_the_kubeconfig_lists_every_control_plane() -> None:
    world = installed()
    del world.nodes["rke-cp03"]
    decided = decide(world, "E.0")
    assert decided.verdict == "FAIL"
    assert "lists no node rke-cp03" in decided.text
