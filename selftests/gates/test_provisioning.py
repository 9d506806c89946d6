"""E.0: what ops01 has, and what must not be left anywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fixtures.core.requests import CONTROLLER
from selftests.gates.deciding import Decided, decide
from selftests.gates.installed import (
    ANSIBLE,
    CILIUM,
    COMMIT,
    DIGEST,
    FIND,
    FIRST,
    HELM,
    HUBBLE,
    KUBECTL,
    OPS,
    STAT_HOSTS,
    SUM_HOSTS,
    installed,
    own_digest,
)
from selftests.gates.world import Reply

NOT_THERE = "bash: line 1: {}: No such file or directory\n"
LOCALE = "bash: warning: setlocale: LC_ALL: cannot change locale (es_ES.UTF-8)\n"


def provisioned(command: str, reply: Reply, host: str = OPS) -> Decided:
    world = installed()
    assert (host, command) in world.replies
    world.say(host, command, reply)
    return decide(world, "E.0")


@pytest.mark.parametrize(
    ("command", "reply", "verdict", "said"),
    [
        (ANSIBLE, Reply("ansible-playbook [core 2.21.2]\n"), "FAIL", "the inventory pins 2.21.3"),
        (ANSIBLE, Reply("ansible-playbook 2.9.27\n"), "UNKNOWN", "no version"),
        (ANSIBLE, Reply(stderr=NOT_THERE.format("x"), rc=127), "FAIL", "it is not there"),
        (ANSIBLE, Reply(stderr="ImportError: no module\n", rc=1), "UNKNOWN", "no module"),
        (HELM, Reply("v4.0.1+g12500dd\n"), "FAIL", "pins v3.19.0"),
        (HELM, Reply("v3.19.1+g12500dd\n"), "FAIL", "pins v3.19.0"),
        (HELM, Reply("v3.19.0\n", "WARNING: Kubernetes configuration file is group-readable\n"),
         "PASS", ""),
        (HELM, Reply(stderr=NOT_THERE.format("~/bin/helm"), rc=127), "FAIL", "install helm v3.19"),
        (HELM, Reply(stderr="bash: /home/ubuntu/bin/helm: Permission denied\n", rc=126),
         "UNKNOWN", "could not be started"),
        (HELM, Reply(stderr="helm: error while loading shared libraries\n", rc=127), "UNKNOWN", ""),
        (HELM, Reply(silent="ops01: no answer"), "UNKNOWN", "no answer"),
        (KUBECTL, Reply("Client Version: v1.36.3+rke2r1\n"), "PASS", ""),
        (KUBECTL, Reply("Client Version: v1.35.9\n"), "PASS", ""),
        (KUBECTL, Reply("Kustomize Version: v5.7.1\n"), "UNKNOWN", "no version"),
        (CILIUM, Reply("cilium-cli: v0.19.1 compiled with go1\n", rc=124), "PASS", ""),
        (CILIUM, Reply("", rc=124), "UNKNOWN", "no version"),
        (CILIUM, Reply("cilium-cli: v0.18.3 compiled with go1\n"), "FAIL", "v0.19.1"),
        (
            CILIUM,
            Reply(stderr="timeout: failed to run command x: No such file or directory\n", rc=127),
            "FAIL",
            "it is not there",
        ),
        (HUBBLE, Reply("hubble v1.18.0@HEAD-1 compiled with go1\n"), "FAIL", "v0.13.6"),
        (HUBBLE, Reply("hubble 0.13.6 compiled with go1.21 on linux/amd64\n"), "PASS", ""),
    ],
)  # fmt: skip
def test_programs(command: str, reply: Reply, verdict: str, said: str) -> None:
    decided = provisioned(command, reply)
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


@pytest.mark.parametrize("version", ["v2.17.0", "v4.0.1"])
def test_helm_is_v3_whatever_is_pinned(version: str) -> None:
    world = installed()
    world.cluster = replace(world.cluster, versions={})
    world.say(OPS, HELM, Reply(f"{version}+gabc\n"))
    decided = decide(world, "E.0")
    assert decided.verdict == "FAIL"
    assert "needs Helm v3" in decided.text


@pytest.mark.parametrize(
    ("reply", "verdict", "said"),
    [
        (Reply(rc=1, stderr="stat: cannot statx 'x': No such file or directory\n"), "FAIL",
         "hosts.json is not there"),
        (Reply("644 ubuntu 1788059400 regular file\n"), "PASS", ""),
        (Reply("600 ubuntu 1788059400 regular empty file\n"), "FAIL", "regular empty file"),
        (Reply("755 ubuntu 1788059400 directory\n"), "FAIL", "directory"),
        (Reply("600 ubuntu regular file\n"), "UNKNOWN", "not mode, owner"),
        (Reply(rc=1, stderr="stat: cannot statx 'x': Permission denied\n"), "UNKNOWN", "denied"),
    ],
)  # fmt: skip
def test_rendered_inventory(reply: Reply, verdict: str, said: str) -> None:
    decided = provisioned(STAT_HOSTS, reply)
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


@pytest.mark.parametrize(
    ("there", "own", "how"),
    [
        (Reply(f"{DIGEST}  x\n"), Reply(f"{DIGEST}  y\n"), "a copy"),
        (Reply(f"{DIGEST}  x\n"), Reply(f"{'0' * 64}  y\n"), "rendered there, or changed since"),
        (Reply(f"{DIGEST}  x\n"), Reply(rc=1, stderr="sha256sum: y: No such file or directory\n"),
         "the controller has none"),
        (Reply(silent="no"), Reply(f"{DIGEST}  y\n"), "not compared"),
        (Reply(f"{DIGEST}  x\n"), Reply(rc=1, stderr="sha256sum: y: Permission denied\n"),
         "not compared"),
    ],
)  # fmt: skip
def test_how_the_inventory_got_there_is_recorded(there: Reply, own: Reply, how: str) -> None:
    world = installed()
    world.say(OPS, SUM_HOSTS, there)
    world.say(CONTROLLER, own_digest(), own)
    decided = decide(world, "E.0")
    assert decided.verdict == "PASS"
    facts = decided.facts["provisioning"]
    assert how in facts["hosts.json"]["how it got there"]
    assert facts["hosts.json"]["changed"] == "2026-08-30T03:10:00Z"
    assert facts["checkout"]["head"] == COMMIT
    assert facts["versions"]["cilium-cli"] == "v0.19.1"


@pytest.mark.parametrize("host", [FIRST, CONTROLLER])
@pytest.mark.parametrize(
    ("reply", "verdict", "said"),
    [
        (Reply("/tmp/rke2-admin-kubeconfig\n"), "FAIL", "`/tmp/rke2-admin-kubeconfig` was left"),
        (Reply("/tmp/a\n/tmp/b\n"), "FAIL", "`/tmp/b` was left"),
        (Reply("/tmp/\x1b[31mkubeconfig\n"), "FAIL", "was left"),
        (Reply(rc=1, stderr="find: '/tmp/': Permission denied\n"), "UNKNOWN", "denied"),
        (Reply(silent="no answer"), "UNKNOWN", "no answer"),
    ],
)  # fmt: skip
def test_leftovers(host: str, reply: Reply, verdict: str, said: str) -> None:
    decided = provisioned(FIND, reply, host)
    assert decided.verdict == verdict, decided.text
    assert said in decided.text
    assert "\x1b" not in decided.text
    assert verdict == "UNKNOWN" or host in decided.text
