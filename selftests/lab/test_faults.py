"""Every fault can be applied at every phase, and says what is wrong with its parameters."""

from __future__ import annotations

import inspect

import pytest

from lab.faults import FAULTS, FaultError
from lab.phase import Phase
from selftests.lab.world import world_at

SAMPLES: dict[str, object] = {
    "node": "rke-cp02",
    "nodes": ["rke-cp02"],
    "host": "rke-cp02",
    "tool": "ip",
    "command": "member list",
    "seconds": 30,
    "bytes": 100_000,
    "names": ["127.0.0.1"],
    "peers": ["10.72.0.21"],
    "priority": 120,
    "count": 2,
    "key": "cni",
    "text": "cni: canal",
    "content": "always-well",
    "label": "k8s-app=cilium",
    "source": "rke-cp01",
    "target": "rke-cp02",
    "image": "nginx",
    "hypervisor": "ns3243421",
}


def parameters(name: str) -> dict[str, object]:
    """A value for each parameter the fault demands."""
    wanted = list(inspect.signature(FAULTS[name].function).parameters.values())[1:]
    return {
        parameter.name: SAMPLES[parameter.name]
        for parameter in wanted
        if parameter.default is inspect.Parameter.empty and parameter.name in SAMPLES
    }


EARLY = [name for name in FAULTS if set(inspect.signature(FAULTS[name].function).parameters) <= {
    "world", *SAMPLES}]  # fmt: skip


@pytest.mark.parametrize("name", sorted(EARLY))
def test_applies_at_every_phase(name: str) -> None:
    for phase in (Phase.ZERO, Phase.B, Phase.C, Phase.G):
        world_at(phase.value, (name, parameters(name) or None))


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_says_what_it_does_in_one_line(name: str) -> None:
    fault = FAULTS[name]
    assert "\n" not in fault.summary
    assert not fault.summary.endswith(".")
    assert fault.parameters


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("vip-nowhere", {"node": "x"}, "`vip-nowhere` has no parameter `node`: no parameters"),
        ("vip-nowhere", "x", "`vip-nowhere` takes no parameters"),
        ("etcd-member-down", None, "`etcd-member-down` needs `node`: {node}"),
        ("etcd-member-down", 3, "`node` must be text, not `3`"),
        ("etcd-member-down", "rke-cp09", "no host `rke-cp09` in this lab"),
        ("vip-held-by", "rke-cp01", "`nodes` must be a list of names, not `rke-cp01`"),
        ("clock-skew", {"host": "rke-cp01", "seconds": True}, "`seconds` must be a number"),
        ("link-cut", {"where": "moon"}, "`where` is bastion or node, not `moon`"),
        ("command-hangs", {"command": "("}, "not a regular expression"),
        ("etcd-alarm", "FULL", "NOSPACE or CORRUPT"),
    ],
)
def test_mistakes(name: str, given: object, said: str) -> None:
    with pytest.raises(FaultError) as caught:
        world_at("c", (name, given))
    assert said in str(caught.value)
