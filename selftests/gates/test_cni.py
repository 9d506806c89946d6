"""E.1: kube-proxy before Cilium, and no other CNI ever."""

from __future__ import annotations

import pytest

from fixtures.core.verdicts import Verdict
from selftests.gates.deciding import decide
from selftests.gates.installed import Installed, installed

EARLIER = {"E.1": Verdict.PASS, "F6-2R": Verdict.PASS}
BEFORE = {"F6-2R": Verdict.PASS}


def not_installed() -> Installed:
    world = installed()
    world.daemonsets.clear()
    world.remove("cilium")
    return world


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("rke2-canal", "x"),
        ("canal", "x"),
        ("calico-node", "x"),
        ("kube-flannel-ds", "x"),
        ("kube-flannel", "x"),
        ("weave-net", "x"),
        ("antrea-agent", "x"),
        ("kube-router", "x"),
        ("ovnkube-node", "x"),
        ("kube-multus-ds", "x"),
        ("kindnet", "x"),
        ("network", "rancher/hardened-calico:v3.30.2"),
        ("network", "docker.io/calico/node:v3.30.2"),
        ("network", "registry.local:5000/rancher/hardened-flannel:v0.27.4"),
        ("network", "ghcr.io/flannel-io/flannel@sha256:00"),
        ("network", "weaveworks/weave-kube:2.8.1"),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_another_cni_is_told_whenever_it_is_there(name: str, image: str, there: bool) -> None:
    world = installed() if there else not_installed()
    world.daemonset(name, image, namespace="elsewhere")
    decided = decide(world, "E.1", standing=EARLIER)
    assert decided.verdict == "FAIL"
    assert f"elsewhere/{name}" in decided.text
    assert decided.waited == 0.0


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("cilium-node-init", "quay.io/cilium/startup-script:1"),
        ("scope-agent", "weaveworks/scope:1.13"),
        ("weave-scope-agent", "weaveworks/scope:1.13"),
        ("node-exporter", "quay.io/prometheus/node-exporter:v1"),
        ("calicoctl2", "busybox:calico"),
        ("network", "calico.example.org/busybox:1"),
        ("network", "calico:5000/busybox:flannel"),
    ],
)
def test_what_only_sounds_like_one_is_none(name: str, image: str) -> None:
    world = installed()
    world.daemonset(name, image)
    assert decide(world, "E.1", standing=EARLIER).verdict == "PASS"


def test_a_cluster_without_any_daemonset_is_an_answer() -> None:
    decided = decide(not_installed(), "E.1")
    assert decided.verdict == "PASS"
    assert decided.facts["before Cilium"] == "measured: Cilium is not installed"


def test_before_cilium_kube_proxy_must_run_on_each_control_plane() -> None:
    world = not_installed()
    world.remove("kube-proxy-rke-cp02")
    decided = decide(world, "E.1")
    assert decided.verdict == "FAIL"
    assert "no pod on rke-cp02" in decided.text
    world = not_installed()
    world.remove("kube-proxy-rke-platform02")
    assert decide(world, "E.1").verdict == "PASS"
    world = not_installed()
    world.pod("kube-proxy-rke-cp03")["status"]["containerStatuses"][0]["ready"] = False
    assert decide(world, "E.1").verdict == "FAIL"


def test_a_mirror_pod_that_is_late_is_waited_for() -> None:
    world = not_installed()
    missing = world.pod("kube-proxy-rke-cp02")
    world.pods.remove(missing)

    def happens(world: object, now: float) -> None:
        assert isinstance(world, Installed)
        if now >= 20 and missing not in world.pods:
            world.pods.append(missing)

    world.happens = happens
    decided = decide(world, "E.1")
    assert decided.verdict == "PASS"
    assert 20 <= decided.waited <= 40


@pytest.mark.parametrize("verdict", list(Verdict))
def test_once_installed_what_was_measured_before_counts(verdict: Verdict) -> None:
    """A statement stays one: it never becomes the PASS of a later run."""
    world = installed()
    world.remove("kube-proxy-rke-cp02")
    decided = decide(world, "E.1", standing={"E.1": verdict, "F6-2R": Verdict.PASS})
    assert decided.verdict == ("PASS" if verdict is Verdict.PASS else "FAIL")


def test_once_installed_the_gate_before_counts_with_kube_proxy_as_it_is_now() -> None:
    decided = decide(installed(), "E.1", standing=BEFORE)
    assert decided.verdict == "PASS"
    assert "at F6-2R there was no CNI" in decided.facts["before Cilium"]


def test_once_installed_and_never_measured_is_unknown() -> None:
    decided = decide(installed(), "E.1")
    assert decided.verdict == "UNKNOWN"
    assert "Cilium is installed already" in decided.text
    assert "nobody has stated it" in decided.text


def test_an_agents_pod_alone_is_cilium_too() -> None:
    world = installed()
    world.daemonsets.clear()
    assert decide(world, "E.1").verdict == "UNKNOWN"
