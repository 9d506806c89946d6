"""E.7: Helm's release and Cilium's configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from selftests.gates.deciding import decide
from selftests.gates.installed import LIST, OPS, installed
from selftests.gates.world import Reply


@pytest.mark.parametrize(
    ("releases", "verdict", "said"),
    [
        ([{}], "PASS", ""),
        ([{}, {"name": "rke2-coredns", "chart": "rke2-coredns-1"}], "PASS", ""),
        ([{"status": "failed"}], "FAIL", "is `failed`"),
        ([{"status": "pending-install"}], "FAIL", "is `pending-install`"),
        ([{"status": "Deployed"}], "FAIL", "is `Deployed`"),
        ([{"status": "uninstalled"}], "FAIL", "is `uninstalled`"),
        ([{"chart": "cilium-1.20.10"}], "FAIL", "chart `cilium-1.20.10`, expected cilium-1.20.1"),
        ([{"chart": "cilium-1.20.1-rc.0"}], "FAIL", "expected cilium-1.20.1"),
        ([{"chart": "other-1.20.1"}], "FAIL", "expected cilium-1.20.1"),
        ([{"name": "network"}], "FAIL", "expected kube-system/cilium"),
        ([{"namespace": "default"}], "FAIL", "expected kube-system/cilium"),
        ([{}, {"namespace": "default"}], "FAIL", "2 releases of Cilium"),
        ([], "FAIL", "Helm has no release of Cilium"),
        ([{"name": "x", "chart": "cilium-cli-1"}], "FAIL", "Helm has no release of Cilium"),
    ],
)
def test_release(releases: list[dict[str, str]], verdict: str, said: str) -> None:
    world = installed()
    world.releases(*releases)
    decided = decide(world, "E.7")
    assert decided.verdict == verdict, decided.text
    assert said in decided.text


@pytest.mark.parametrize(
    "reply",
    [
        Reply("NAME\tNAMESPACE\n"),
        Reply(""),
        Reply("null"),
        Reply('[{"name": "cilium"}]'),
        Reply(stderr="Error: Kubernetes cluster unreachable: EOF\n", rc=1),
        Reply(stderr="bash: /home/ubuntu/bin/helm: No such file or directory\n", rc=127),
        Reply(silent="ops01: no answer"),
    ],
)
def test_what_helm_does_not_tell_is_unknown(reply: Reply) -> None:
    world = installed()
    world.say(OPS, LIST, reply)
    assert decide(world, "E.7").verdict == "UNKNOWN"
    world.config = None
    assert decide(world, "E.7").verdict == "FAIL"


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("routing-mode", "native", "FAIL"),
        ("routing-mode", None, "FAIL"),
        ("tunnel-protocol", "geneve", "FAIL"),
        ("tunnel-protocol", "VXLAN", "FAIL"),
        ("kube-proxy-replacement", "true", "FAIL"),
        ("kube-proxy-replacement", "partial", "FAIL"),
        ("enable-hubble", "false", "FAIL"),
        ("enable-hubble", None, "FAIL"),
        ("cluster-pool-ipv4-cidr", "10.0.0.0/8", "FAIL"),
        ("cluster-pool-ipv4-cidr", "10.64.0.0/140", "FAIL"),
        ("cluster-pool-ipv4-cidr", "10.64.0.0/14 10.96.0.0/16", "FAIL"),
        ("cluster-pool-ipv4-cidr", None, "FAIL"),
        ("cluster-pool-ipv4-cidr", " 10.64.0.0/14\n", "PASS"),
        ("debug", "true", "PASS"),
    ],
)
def test_config(key: str, value: str | None, verdict: str) -> None:
    world = installed()
    assert world.config is not None
    world.config.pop(key, None)
    if value is not None:
        world.config[key] = value
    decided = decide(world, "E.7")
    assert decided.verdict == verdict, decided.text
    if verdict == "FAIL":
        assert key in decided.text
        assert value is not None or "not set" in decided.text


def test_without_the_configmap_nothing_is_as_designed() -> None:
    world = installed()
    world.config = None
    decided = decide(world, "E.7")
    assert decided.verdict == "FAIL"
    assert "ConfigMap kube-system/cilium-config is not there" in decided.text


def test_without_a_pinned_chart_it_is_unknown() -> None:
    world = installed()
    world.cluster = replace(world.cluster, versions={})
    decided = decide(world, "E.7")
    assert decided.verdict == "UNKNOWN"
    assert "pins no version of cilium" in decided.text
