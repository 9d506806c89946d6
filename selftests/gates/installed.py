"""A healthy cluster of six nodes with Cilium, and ops01 as the runbook provisions it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from fixtures.core.requests import (
    CONTROLLER,
    Executed,
    KubeExec,
    Response,
    Silence,
)
from selftests.gates.joined import ADDRESSES, NODES, Joined, joined
from selftests.gates.world import AT, Reply, wetopi
from selftests.lab.world import ask, world_at

if TYPE_CHECKING:
    from fixtures.core.requests import Answer, Request

OPS = "wetopi-ops01"
FIRST = "rke-cp01"
KUBECONFIG = "~/secrets/rke2-admin-kubeconfig"
GIT = "GIT_GRAFT_FILE=/dev/null git --no-replace-objects -C ~/wetopi-infrastructure "
_LOOK = GIT.replace(
    "-C",
    "--no-optional-locks -c core.fsmonitor=false -c core.trustctime=true -c core.checkStat=default "
    "-c core.quotePath=true -C",
    1,
)
HEAD = GIT + "rev-parse HEAD"
SHALLOW = GIT + "rev-parse --is-shallow-repository"
INSIDE = GIT + "rev-parse --is-inside-work-tree --show-prefix"
NAMED = GIT + "rev-parse --verify d553643^{commit}"
CONTAINS = GIT + "merge-base --is-ancestor d553643 HEAD"
REVIEWED = GIT + "merge-base --is-ancestor HEAD refs/remotes/origin/main"
CHANGES = _LOOK + "status --porcelain --untracked-files=normal --ignore-submodules=none"
HIDDEN = _LOOK + "ls-files -v | grep -v '^H '"
ANSIBLE = "~/wetopi-infrastructure/.venv/bin/ansible-playbook --version"
HELM = "~/bin/helm version --short"
KUBECTL = "~/bin/kubectl version --client"
CILIUM = "timeout 10 ~/bin/cilium version --client"
HUBBLE = "~/bin/hubble version"
HOSTS_JSON = "~/wetopi-infrastructure/ansible/inventories/prod/hosts.json"
STAT_HOSTS = f"stat -L -c '%a %U %Y %F' {HOSTS_JSON}"
SUM_HOSTS = f"sha256sum {HOSTS_JSON}"
READ_KUBECONFIG = f"stat -L -c '%a %U %F' {KUBECONFIG} && cat {KUBECONFIG}"
READ_ORIGINAL = "sudo -n cat /etc/rancher/rke2/rke2.yaml"
FIND = (
    r"find /tmp/ -maxdepth 1 -type f \( -name '*kubeconfig*' -o -name 'rke2.yaml*' -o -name "
    r"'pre-addons-fase6*' \)"
)
STATUS = f"KUBECONFIG={KUBECONFIG} ~/bin/cilium status -o json --interactive=false"
LIST = f"KUBECONFIG={KUBECONFIG} ~/bin/helm list -A -a -o json"
DAEMONSETS = "/apis/apps/v1/daemonsets"
ENDPOINTS = "/apis/cilium.io/v2/ciliumendpoints"
CONFIG = "/api/v1/namespaces/kube-system/configmaps/cilium-config"
ON_POD_NETWORK = ("coredns", "autoscaler", "metrics", "relay")
COMMIT = "ce065f2" + "0" * 33
DIGEST = "ab" * 32


@dataclass
class Installed(Joined):
    """The same with what phase E asks: DaemonSets, endpoints, configuration, agents' views."""

    daemonsets: list[Any] = field(default_factory=list)
    endpoints: list[Any] = field(default_factory=list)
    config: dict[str, str] | None = field(default_factory=dict)
    views: dict[str, Any] = field(default_factory=dict)
    ends: dict[str, Reply] = field(default_factory=dict)

    def _answer(self, request: Request) -> Answer:
        if not isinstance(request, KubeExec):
            return super()._answer(request)
        self.sent.append(request)
        now = AT + timedelta(seconds=self.clock())
        self.happens(self, self.clock())
        assert request.argv == ("cilium-health", "status", "-o", "json")
        assert (request.namespace, request.container) == ("kube-system", "cilium-agent")
        reply = self.ends.get(request.pod) or Reply(json.dumps(self.views[request.pod]))
        if reply.silent:
            return Silence(request, reply.silent, now, self.slow)
        if reply.rc >= 400:
            return Response(request, reply.rc, reply.stdout.encode(), now, self.slow)
        out, err = reply.stdout.encode(), reply.stderr.encode()
        return Executed(request, reply.rc, out, err, now, self.slow, reply.cut)

    def document(self, path: str, now: Any) -> tuple[int, Any]:
        if path == DAEMONSETS:
            return 200, {"kind": "DaemonSetList", "items": self.daemonsets}
        if path == ENDPOINTS:
            return 200, {"kind": "CiliumEndpointList", "items": self.endpoints}
        if path == CONFIG:
            if self.config is None:
                details = {"name": "cilium-config"}
                return 404, {"kind": "Status", "reason": "NotFound", "details": details}
            metadata = {"name": "cilium-config", "namespace": "kube-system"}
            return 200, {"kind": "ConfigMap", "metadata": metadata, "data": self.config}
        return super().document(path, now)

    def status(self, **changes: Any) -> None:
        """What `cilium status` answers, with other parts."""
        self.say(OPS, STATUS, Reply(json.dumps(status(**changes), indent=1)))

    def releases(self, *releases: dict[str, str]) -> None:
        self.say(OPS, LIST, Reply(json.dumps([release(**each) for each in releases])))

    def knocks(self, source: str, **answers: str) -> None:
        """What a node prints of others, by name (`rke_cp02="1 Connection refused"`)."""
        given = {name.replace("_", "-"): text for name, text in answers.items()}
        others = [name for name in NODES if name != source]
        lines = [f"{address(name)} {given.get(name, '0')}" for name in others]
        self.say(source, knocking(source), Reply("\n".join([*lines, ""])))

    def probe(self, source: str, target: str, **ways: Any) -> None:
        """What an agent's last probes of a node's endpoint came to."""
        row = next(each for each in self.views[agent(source)]["nodes"] if each["name"] == target)
        row["health-endpoint"]["primary-address"] |= ways

    def daemonset(self, name: str, *images: str, namespace: str = "kube-system") -> None:
        self.daemonsets.append(daemonset(name, *images, namespace=namespace))


def address(name: str) -> str:
    return f"10.72.0.{ADDRESSES[name]}"


def agent(node: str) -> str:
    return f"cilium-{NODES.index(node)}"


def knocking(source: str, among: tuple[str, ...] = NODES) -> str:
    addresses = " ".join(address(name) for name in among if name != source)
    return (
        f"for a in {addresses}; do "
        '(r=$(timeout 10 bash -c "</dev/tcp/$a/4244" 2>&1); echo "$a" $? $r) & done; wait'
    )


def daemonset(name: str, *images: str, namespace: str = "kube-system") -> Any:
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"containers": containers}}},
    }


def endpoint(pod: Any) -> Any:
    metadata = pod["metadata"]
    networking = {"addressing": [{"ipv4": pod["status"]["podIP"]}], "node": "10.72.0.21"}
    return {
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "ownerReferences": [{"kind": "Pod", "uid": metadata["uid"]}],
        },
        "status": {"networking": networking, "state": "ready"},
    }


def view(node: str) -> Any:
    """What an agent tells when all is well."""
    good = {"lastProbed": "2026-11-30T11:58:23Z", "latency": 511428}

    def path(ip: str) -> Any:
        return {
            "primary-address": {"http": good, "icmp": good, "ip": ip},
            "secondary-addresses": [],
        }

    return {
        "local": {"name": node},
        "nodes": [
            {
                "name": name,
                "host": path(address(name)),
                "health-endpoint": path(f"10.64.{number}.118"),
            }
            for number, name in enumerate(NODES)
        ],
        "probeInterval": "1m36.5s",
        "timestamp": "2026-11-30T11:59:00Z",
    }


def status(**changes: Any) -> Any:
    counts = {"Type": "DaemonSet", "Desired": 6, "Ready": 6, "Available": 6, "Unavailable": 0}
    fine = {"Errors": None, "Warnings": None, "Disabled": False}
    return {
        "pod_state": {"cilium": counts},
        "cilium_status": {},
        "errors": {
            "cilium-operator": {"cilium-operator": fine},
            "hubble-relay": {"hubble-relay": fine},
            "clustermesh-apiserver": {"clustermesh-apiserver": {**fine, "Disabled": True}},
        },
    } | changes


def release(**changes: str) -> dict[str, str]:
    return {
        "name": "cilium",
        "namespace": "kube-system",
        "revision": "1",
        "updated": "2026-08-30 03:00:00 +0000 UTC",
        "status": "deployed",
        "chart": "cilium-1.20.1",
        "app_version": "1.20.1",
    } | changes


def own_digest() -> str:
    return f"sha256sum {wetopi().controller['hosts_json']}"


@cache
def kubeconfigs() -> tuple[str, str]:
    """RKE2's own one, and what was brought over to the bastion."""
    lab = world_at("e")
    return (
        ask(lab, FIRST, READ_ORIGINAL).out,
        ask(lab, OPS, f"cat {KUBECONFIG}").out,
    )


def installed() -> Installed:
    """Everything as the runbook wants it after phase D."""
    base = joined()
    world = Installed(**{name: getattr(base, name) for name in vars(base) if name[0] != "_"})
    _provision(world)
    for number, pod in enumerate(world.pods):
        on_host = not pod["metadata"]["name"].startswith(
            ("coredns", "autoscaler", "metrics", "relay")
        )
        share = NODES.index(pod["spec"]["nodeName"])
        ip = address(pod["spec"]["nodeName"]) if on_host else f"10.64.{share}.{10 + number}"
        pod["spec"]["hostNetwork"] = on_host
        pod["status"] |= {"podIP": ip, "podIPs": [{"ip": ip}]}
        if not on_host:
            world.endpoints.append(endpoint(pod))
    world.daemonset("cilium", "quay.io/cilium/cilium:v1.20.1@sha256:" + DIGEST)
    world.daemonset("cilium-envoy", "quay.io/cilium/cilium-envoy:v1.35.9")
    world.daemonset("rke2-traefik", "index.docker.io/rancher/hardened-traefik:v3.6.2")
    world.config = {
        "routing-mode": "tunnel",
        "tunnel-protocol": "vxlan",
        "kube-proxy-replacement": "false",
        "enable-hubble": "true",
        "cluster-pool-ipv4-cidr": "10.64.0.0/14",
    }
    world.status()
    world.releases({}, {"name": "rke2-coredns", "chart": "rke2-coredns-1.46.201"})
    for node in NODES:
        world.knocks(node)
        world.views[agent(node)] = view(node)
    return world


def _provision(world: Installed) -> None:
    original, there = kubeconfigs()
    for command, text in {
        HEAD: f"{COMMIT}\n",
        SHALLOW: "false\n",
        INSIDE: "true\n\n",
        NAMED: f"d553643{'0' * 33}\n",
        CONTAINS: "",
        REVIEWED: "",
        CHANGES: "",
        ANSIBLE: "ansible-playbook [core 2.21.3]\n  config file = None\n",
        HELM: "v3.19.0+g3d8990f\n",
        KUBECTL: "Client Version: v1.36.3\nKustomize Version: v5.7.1\n",
        CILIUM: "cilium-cli: v0.19.1 compiled with go1.25.5 on linux/amd64\n",
        HUBBLE: "hubble v0.13.6@HEAD-3e5d4a1 compiled with go1.22.5 on linux/amd64\n",
        STAT_HOSTS: "600 ubuntu 1788059400 regular file\n",
        SUM_HOSTS: f"{DIGEST}  hosts.json\n",
        READ_KUBECONFIG: f"600 ubuntu regular file\n{there}",
    }.items():
        world.say(OPS, command, Reply(text))
    world.say(OPS, HIDDEN, Reply(rc=1))
    world.say(CONTROLLER, own_digest(), Reply(f"{DIGEST}  hosts.json\n"))
    world.say(FIRST, READ_ORIGINAL, Reply(original))
    world.say(FIRST, FIND, Reply())
    world.say(CONTROLLER, FIND, Reply())
