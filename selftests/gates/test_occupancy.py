"""Whether anybody but the control planes lives on the cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.occupancy import control_planes_only
from fixtures.observe.occupancy import Occupied
from selftests.gates.drilling import Drilled, drilled, node
from selftests.gates.texts import CPS, KUBECTL, items, node_object
from selftests.gates.world import Reply

if TYPE_CHECKING:
    from fixtures.judge.findings import Findings

HOST = "rke-cp02"
NODES = f"{KUBECTL} get nodes -o json"
DAEMONSETS = f"{KUBECTL} get daemonsets -A -o json"
NAMESPACES = f"{KUBECTL} get namespaces -o json"
VOLUMES = f"{KUBECTL} get persistentvolumes,persistentvolumeclaims -A -o json"
CILIUM = f"{KUBECTL} get ciliumnodes.cilium.io -o json"
NO_TYPE = 'error: the server doesn\'t have a resource type "ciliumnodes"\n'
BUILT_IN = ("default", "kube-node-lease", "kube-public", "kube-system")


def thing(kind: str, name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"kind": kind, "metadata": metadata} | more


def daemonset(name: str, *folders: str) -> dict[str, Any]:
    volumes = [{"name": "v", "hostPath": {"path": folder}} for folder in folders]
    template = {"spec": {"volumes": [*volumes, {"name": "c", "configMap": {}}]}}
    return thing("DaemonSet", name, "kube-system", spec={"template": template})


def namespaces(*names: str) -> str:
    return items(thing("Namespace", name) for name in names)


def world(**replies: Reply) -> Drilled:
    world = drilled()
    for command, reply in {
        NODES: Reply(items(node_object(each) for each in CPS)),
        DAEMONSETS: Reply(items([daemonset("rke2-traefik", "/var/log")])),
        NAMESPACES: Reply(namespaces(*BUILT_IN)),
        VOLUMES: Reply(items([])),
        CILIUM: Reply(stderr=NO_TYPE, rc=1),
    }.items():
        world.say(HOST, command, reply)
    for name, reply in replies.items():
        world.say(HOST, globals()[name], reply)
    return world


def judged(world: Drilled, own: frozenset[str] = frozenset()) -> Findings:
    return control_planes_only(Occupied(world.cluster, world).seen_from(node()), world.cluster, own)


def test_control_planes_alone() -> None:
    assert judged(world()) == ()


def test_no_cilium_node_is_none_although_the_type_exists() -> None:
    assert judged(world(CILIUM=Reply(items([])))) == ()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"NODES": Reply(items(node_object(each) for each in (*CPS, "rke-platform01")))},
            "registered beside the control planes: `rke-platform01`",
        ),
        (
            {"NODES": Reply(items(node_object(each) for each in CPS[:2]))},
            "not registered: `rke-cp03`",
        ),
        ({"DAEMONSETS": Reply(items([daemonset("cilium")]))}, "DaemonSet kube-system/cilium"),
        ({"DAEMONSETS": Reply(items([daemonset("rke2-canal")]))}, "a CNI is installed"),
        ({"DAEMONSETS": Reply(items([daemonset("kube-flannel-ds")]))}, "a CNI is installed"),
        ({"DAEMONSETS": Reply(items([daemonset("x", "/etc/cni/net.d")]))}, "a CNI is installed"),
        ({"DAEMONSETS": Reply(items([daemonset("x", "/opt/cni")]))}, "a CNI is installed"),
        (
            {"CILIUM": Reply(items([thing("CiliumNode", "rke-cp01")]))},
            "Cilium knows nodes: `CiliumNode rke-cp01`",
        ),
        (
            {"VOLUMES": Reply(items([thing("PersistentVolume", "pvc-1")]))},
            "storage in use: `PersistentVolume pvc-1`",
        ),
        (
            {"VOLUMES": Reply(items([thing("PersistentVolumeClaim", "data", "app")]))},
            "PersistentVolumeClaim app/data",
        ),
        (
            {"NAMESPACES": Reply(namespaces(*BUILT_IN, "argocd"))},
            "namespaces beyond RKE2's own: `argocd`",
        ),
        (
            {"NAMESPACES": Reply(namespaces(*BUILT_IN, *(f"n{n:02}" for n in range(20))))},
            "and 12 more",
        ),
    ],
)
def test_what_blocks(changed: dict[str, Reply], says: str) -> None:
    found = judged(world(**changed))
    assert any(says in finding for finding in found), found
    assert all("whatever the options" in finding for finding in found)


@pytest.mark.parametrize("name", ["rke2-ingress-nginx-controller", "my-ciliumish", "svclb-x"])
def test_a_daemonset_that_is_no_cni(name: str) -> None:
    assert judged(world(DAEMONSETS=Reply(items([daemonset(name, "/etc/cnix")])))) == ()


def test_a_namespace_that_the_run_made_itself() -> None:
    reply = Reply(namespaces(*BUILT_IN, "rke2-acceptance-1"))
    assert judged(world(NAMESPACES=reply), frozenset({"rke2-acceptance-1"})) == ()
    assert judged(world(NAMESPACES=reply))


REFUSED = "The connection to the server 127.0.0.1:6443 was refused\n"


@pytest.mark.parametrize("name", ["NODES", "DAEMONSETS", "NAMESPACES", "VOLUMES", "CILIUM"])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(silent="rke-cp02: no answer"),
        Reply(stderr=REFUSED, rc=1),
        Reply("{}"),
        Reply(json.dumps({"kind": "List", "items": [{"kind": 7}]})),
    ],
)
def test_what_could_not_be_asked_is_never_nothing(name: str, reply: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp02"):
        judged(world(**{name: reply}))


KLOG = "E1130 12:58:35.959488     825 memcache.go:265] "
NOT_LISTED = "couldn't get resource list for {}: the server cannot handle the request"


@pytest.mark.parametrize(
    "beside",
    [
        KLOG + f'"Unhandled Error" err="{NOT_LISTED.format("metrics.k8s.io/v1beta1")}"\n',
        KLOG + NOT_LISTED.format("metrics.k8s.io/v1beta1") + "\n",
        "W1130 12:58:35.959488     825 cached_discovery.go:87] failed to write cache: no space\n",
        "I1130 12:58:35.959488     825 discovery/round_trippers.go:45] throttled\n",
        "Warning: cilium.io/v2alpha1 is deprecated in v1.40+\n",
        "sudo: unable to resolve host rke-cp02: Name or service not known\n",
        "bash: warning: setlocale: LC_ALL: cannot change locale (es_ES.UTF-8)\n",
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_what_stands_beside_the_answer_does_not_hide_it(beside: str, after: bool) -> None:
    """Without a CNI, nothing serves `metrics.k8s.io`: kubectl says so each time it is asked."""
    stderr = NO_TYPE + beside if after else beside * 3 + NO_TYPE
    assert judged(world(CILIUM=Reply(stderr=stderr, rc=1))) == ()


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        NO_TYPE + "more\n",
        NO_TYPE * 2,
        'error: the server doesn\'t have a resource type "pods"\n',
        "E1130 memcache.go:265] couldn't get current server API group list\n" + NO_TYPE,
        f'{KLOG}"Unhandled Error" err="couldn\'t get current server API group list: x"\n{NO_TYPE}',
        f'{KLOG}"Unhandled Error" err="{NOT_LISTED.format("cilium.io/v2")}"\n{NO_TYPE}',
        f"{KLOG}{NOT_LISTED.format('cilium.io/v2alpha1')}\n{NO_TYPE}",
        f"{KLOG}{NOT_LISTED.format('v1')}\n{NO_TYPE}",
        f"W1130 12:58:35.959488     825 x.go:1] {NOT_LISTED.format('cilium.io/v2')}\n{NO_TYPE}",
        KLOG + NOT_LISTED.format("metrics.k8s.io/v1beta1") + "\n",
    ],
)
def test_only_the_api_itself_can_say_that_there_is_no_such_type(stderr: str) -> None:
    with pytest.raises(Undecided):
        judged(world(CILIUM=Reply(stderr=stderr, rc=1)))


def test_a_list_without_kube_system_is_not_complete() -> None:
    with pytest.raises(Undecided, match="kube-system is not in the list"):
        judged(world(NAMESPACES=Reply(namespaces("default"))))


def test_a_finding_stands_beside_what_is_unknown() -> None:
    replies = {"NODES": Reply(silent="x"), "NAMESPACES": Reply(namespaces(*BUILT_IN, "argocd"))}
    assert judged(world(**replies))
