"""The suite of `cilium connectivity test`, shortened, and what goes wrong with it by decree.

Names of tests and scenarios are those of cilium-cli v0.19 (cilium/cilium, cilium-cli/connectivity).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

PLAIN = "no-policies"
CLIENTS = ("client", "client2", "client3")
SAME_NODE, OTHER_NODE = "echo-same-node", "echo-other-node"

# Tests in their order, with their scenarios.
SUITE: dict[str, tuple[str, ...]] = {
    "no-unexpected-packet-drops": ("no-unexpected-packet-drops",),
    PLAIN: (
        "pod-to-pod",
        "client-to-client",
        "pod-to-service",
        "pod-to-hostport",
        "pod-to-world",
        "pod-to-host",
        "host-to-pod",
        "pod-to-cidr",
    ),
    "no-policies-from-outside": ("from-cidr-to-pod",),
    "no-policies-extra": ("pod-to-remote-nodeport", "pod-to-local-nodeport"),
    "allow-all-except-world": ("pod-to-pod", "client-to-client", "pod-to-service", "pod-to-host"),
    "client-ingress": ("client-to-client",),
    "client-ingress-knp": ("client-to-client",),
    "all-ingress-deny": ("pod-to-pod", "pod-to-cidr"),
    "all-egress-deny": ("pod-to-pod", "pod-to-cidr"),
    "cluster-entity": ("pod-to-pod",),
    "cluster-entity-multi-cluster": ("pod-to-pod",),
    "host-entity-egress": ("pod-to-host",),
    "echo-ingress": ("pod-to-pod",),
    "echo-ingress-knp": ("pod-to-pod",),
    "client-egress": ("pod-to-pod",),
    "to-entities-world": ("pod-to-world",),
    "to-cidr-external": ("pod-to-cidr",),
    "echo-ingress-from-other-client-deny": ("pod-to-pod", "client-to-client"),
    "client-egress-to-echo-deny": ("pod-to-pod", "client-to-client"),
    "health": ("cilium-health",),
    "north-south-loadbalancing": ("outside-to-nodeport",),
    "pod-to-pod-encryption": ("pod-to-pod-encryption",),
    "egress-gateway": ("egress-gateway",),
    "echo-ingress-l7": ("pod-to-pod-with-endpoints",),
    "client-egress-l7": ("pod-to-pod", "pod-to-world"),
    "dns-only": ("pod-to-pod", "pod-to-world"),
    "to-fqdns": ("pod-to-world", "pod-to-world-2"),
    "bgp-control-plane": ("bgp-advertisements",),
    "host-firewall-ingress": ("host-to-pod",),
    "check-log-errors": ("no-errors-in-logs",),
}
# What a cluster like this one has no use for.
_BY_CONDITION = frozenset(
    {
        "no-policies-from-outside",
        "cluster-entity-multi-cluster",
        "north-south-loadbalancing",
        "pod-to-pod-encryption",
        "egress-gateway",
        "bgp-control-plane",
        "host-firewall-ingress",
    }
)
# What needs a second node.
_CROSSING = frozenset({"no-policies-extra"})


@dataclass(slots=True)
class Connectivity:
    """What a fault decrees for the next connectivity tests.

    Attributes:
        fails: tests that fail.
        skips: tests that are skipped by condition.
        without: scenarios that are left out, in every test.
        filtered: tests are left out by a filter: these, or all for `*`.
        one_node: the cluster is taken for one with a single node.
        stuck: the test in which it hangs; empty is none.
        dies: in which test it is killed.
        silent: it does not show what it tries, as without --verbose.
        old: its report has the form of a release of long ago.
        hiccup: a step fails at first, and passes when it is tried again.
    """

    fails: set[str] = field(default_factory=set)
    skips: set[str] = field(default_factory=set)
    without: set[str] = field(default_factory=set)
    filtered: set[str] = field(default_factory=set)
    one_node: bool = False
    stuck: str = ""
    dies: str = ""
    silent: bool = False
    old: bool = False
    hiccup: bool = False

    def why_skipped(self, test: str, *, one_node: bool) -> str:
        """Why the test is left out; empty if it is not."""
        if "*" in self.filtered or test in self.filtered:
            return "skipped by user"
        left_out = test in self.skips or test in _BY_CONDITION or (one_node and test in _CROSSING)
        return "skipped by condition" if left_out else ""

    def lasts(self, test: str, pace: float) -> float:
        """How long the test takes, in seconds."""
        return math.inf if test == self.stuck else pace
