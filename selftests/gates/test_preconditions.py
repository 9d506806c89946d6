"""Phase 0: the cluster's facts, and the controller."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from fixtures.core.requests import CONTROLLER, HostCommand
from fixtures.judge.cluster_facts import facts_agree
from fixtures.judge.preconditions import controller_ready
from fixtures.observe.answers import Unknown
from fixtures.observe.controller import Controller
from fixtures.observe.tools import Tool
from selftests.gates.checkout_stand import verdict as judged
from selftests.gates.world import wetopi

CLUSTER = wetopi()


def test_the_facts_of_wetopi_agree() -> None:
    assert facts_agree(CLUSTER) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vip": ip_address("10.99.0.1")}, "the VIP 10.99.0.1 is not in the node LAN"),
        ({"services": ip_network("10.64.0.0/16")}, "overlap"),
        ({"tls_san": (ip_address("10.72.0.20"),)}, "10.72.0.21 is missing in the TLS names"),
        (
            {"tls_san": (*CLUSTER.network.tls_san, ip_address("10.72.0.99"))},
            "10.72.0.99 is a TLS name, but neither",
        ),
    ],
)
def test_facts_that_do_not_fit_together_are_named(change: dict[str, Any], said: str) -> None:
    cluster = replace(CLUSTER, network=replace(CLUSTER.network, **change))
    assert said in "; ".join(facts_agree(cluster))


@pytest.mark.parametrize(
    ("version", "pinned", "verdict"),
    [
        ("2.21.3", "2.21.3", "PASS"),
        ("2.21.30", "2.21.3", "FAIL"),
        ("2.21.3rc1", "2.21.3", "FAIL"),
        (None, "2.21.3", "FAIL"),
        (None, None, "FAIL"),
        ("2.21.3", None, "UNKNOWN"),
        (Unknown("no answer"), "2.21.3", "UNKNOWN"),
    ],
)
def test_ansible_is_the_pinned_one(
    version: str | Unknown | None, pinned: str | None, verdict: str
) -> None:
    request = HostCommand(CONTROLLER, "ansible-playbook --version", 5)
    seen = Controller(Tool("ansible-core", request, version), "rke-cp01")
    cluster = replace(CLUSTER, versions={"ansible-core": pinned} if pinned else {})
    assert judged(lambda: controller_ready(seen, cluster))[0] == verdict


def test_without_a_way_to_the_first_control_plane_the_controller_is_not_ready() -> None:
    request = HostCommand(CONTROLLER, "ansible-playbook --version", 5)
    seen = Controller(Tool("ansible-core", request, "2.21.3"), Unknown("no way"))
    assert judged(lambda: controller_ready(seen, CLUSTER)) == ("UNKNOWN", "no way")
