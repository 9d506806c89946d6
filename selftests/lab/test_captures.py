"""The lab's answers beside measured ones: the same texts, streams and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from selftests.lab.captures import Capture, comparable, load
from selftests.lab.world import ETCDCTL, KUBECTL, TLS, Said, ask, etcdctl, world_at

if TYPE_CHECKING:
    from lab.world import World

ETCD = load("etcd")
KUBERNETES = load("kubernetes")
NETWORK = load("network")
ONE_DEAD = ("etcd-member-down", "rke-cp03")


def same(lab: Said, measured: Capture) -> None:
    """Equal but for a last newline: the captures always end with one, the tools do not."""
    assert lab.rc == measured.rc
    assert comparable(lab.out).rstrip() == comparable(measured.out).rstrip()
    assert comparable(lab.err).rstrip() == comparable(measured.err).rstrip()


def in_a_pod(measured: Capture) -> Capture:
    """The same through `kubectl exec`, which adds its own line on stderr."""
    added = f"command terminated with exit code {measured.rc}\n" if measured.rc else ""
    return Capture(measured.command, measured.out, measured.err + added, measured.rc)


@pytest.mark.parametrize(
    ("label", "words", "faults"),
    [
        ("member list", "member list", []),
        ("list with one dead", "member list", [ONE_DEAD]),
        ("status with one dead", "endpoint status --cluster", [ONE_DEAD]),
        ("health", "endpoint health --cluster", []),
    ],
)
def test_etcdctl_simple(label: str, words: str, faults: list[object]) -> None:
    lab = etcdctl(world_at("c", *faults), "rke-cp01", words)
    measured = in_a_pod(ETCD[label])
    assert lab.rc == measured.rc
    for mine, theirs in ((lab.out, measured.out), (lab.err, measured.err)):
        assert sorted(comparable(mine).splitlines()) == sorted(comparable(theirs).splitlines())


@pytest.mark.parametrize(
    ("label", "words", "phase", "faults"),
    [
        ("member list json", "member list -w json", "b", []),
        ("member list hex json", "--hex -w json member list", "b", []),
        ("status json", "endpoint status -w json", "b", []),
        ("list without quorum", "member list", "c", ["etcd-quorum-lost"]),
        ("serializable list without quorum", "member list --consistency=s", "c",
         ["etcd-quorum-lost"]),
        ("health without quorum", "endpoint health", "c", ["etcd-quorum-lost"]),
        ("health of the cluster without quorum", "endpoint health --cluster -w json", "c",
         ["etcd-quorum-lost"]),
        ("status without quorum", "endpoint status -w json", "c", ["etcd-quorum-lost"]),
        ("no such certificate", "--cert=/nope --key=/nope member list", "b", []),
        ("no such command", "nosuchcmd", "b", []),
    ],
)  # fmt: skip
def test_etcdctl(label: str, words: str, phase: str, faults: list[str]) -> None:
    world = world_at(phase, *faults)
    # Without quorum no kubectl reaches the pod: the container is asked on its node.
    lab = in_container(world, words) if faults else etcdctl(world, "rke-cp01", words)
    same(lab, ETCD[label] if faults else in_a_pod(ETCD[label]))


def in_container(world: World, words: str) -> Said:
    world.hosts["rke-cp01"].files.binary("/usr/bin/etcdctl", "etcdctl")
    return ask(world, "rke-cp01", f"{ETCDCTL} {words}")


@pytest.mark.parametrize(
    ("label", "faults"), [("health json", []), ("health json with one dead", [ONE_DEAD])]
)
def test_health_in_json(label: str, faults: list[object]) -> None:
    lab = etcdctl(world_at("c", *faults), "rke-cp01", "endpoint health --cluster -w json")
    measured = in_a_pod(ETCD[label])

    def rows(text: str) -> list[tuple[bool, str | None]]:
        return sorted((row["health"], row.get("error")) for row in json.loads(text))

    assert lab.rc == measured.rc
    assert rows(lab.out) == rows(measured.out)
    assert comparable(lab.err) == comparable(measured.err)


def test_status_in_json_leaves_out_who_does_not_answer() -> None:
    words = "endpoint status --cluster -w json"
    lab = etcdctl(world_at("c", ONE_DEAD), "rke-cp01", words)
    measured = in_a_pod(ETCD["status json with one dead"])
    assert lab.rc == measured.rc
    assert len(json.loads(lab.out)) == len(json.loads(measured.out)) == 2
    keys = {key for row in json.loads(measured.out) for key in row["Status"]}
    assert {key for row in json.loads(lab.out) for key in row["Status"]} == keys
    assert comparable(lab.err) == comparable(measured.err)


CURL = f"sudo -n curl -s --cacert {TLS}/server-ca.crt"
CERTIFICATE = f"--cert {TLS}/client-kube-apiserver.crt --key {TLS}/client-kube-apiserver.key"
WITHOUT_CREDENTIALS = (
    "/var/lib/rancher/rke2/bin/kubectl --insecure-skip-tls-verify --kubeconfig=/dev/null "
    "--server=https://127.0.0.1:6443 get nodes"
)
DEAD_ETCD = ["api-not-ready", "rke-cp01"]


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("readyz", f"{KUBECTL} get --raw /readyz"),
        ("readyz verbose", f"{KUBECTL} get --raw '/readyz?verbose'"),
        ("curl with certificate", f"{CURL} {CERTIFICATE} https://127.0.0.1:6443/readyz"),
        ("curl anonymous", "curl -sk https://10.72.0.20:6443/readyz"),
        ("curl code only",
         "curl -sk -o /dev/null -w '%{http_code}' https://127.0.0.1:6443/readyz"),
        ("curl without client certificate", f"{CURL} https://127.0.0.1:6443/readyz"),
        ("empty selector", f"{KUBECTL} -n kube-system get pods -l k8s-app=cilium"),
        ("empty selector json", f"{KUBECTL} -n kube-system get pods -l k8s-app=cilium -o json"),
        ("exec in no pod", f"{KUBECTL} exec web-nosuch -- true"),
        ("no such object", f"{KUBECTL} get storageclass nope"),
        ("no such object ignored", f"{KUBECTL} get storageclass nope --ignore-not-found"),
        ("no credentials", WITHOUT_CREDENTIALS),
    ],
)  # fmt: skip
def test_kubernetes(label: str, line: str) -> None:
    same(ask(world_at("c"), "rke-cp01", line), KUBERNETES[label])


def test_taints() -> None:
    line = f"{KUBECTL} describe node rke-cp01 | grep -i taint"
    same(ask(world_at("d"), "rke-cp01", line), KUBERNETES["taints"])


def test_a_resource_type_the_server_does_not_have() -> None:
    lab = ask(world_at("c"), "rke-cp01", f"{KUBECTL} get ciliumnodes.cilium.io")
    same(lab, KUBERNETES["no such resource type"])


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("nobody listens", f"{KUBECTL} --server=https://127.0.0.1:1 get nodes"),
        ("kubeconfig not there",
         "KUBECONFIG=/nope /var/lib/rancher/rke2/bin/kubectl get nodes"),
    ],
)  # fmt: skip
def test_kubectl_without_a_server(label: str, line: str) -> None:
    same(ask(world_at("c"), "rke-cp01", line), KUBERNETES[label])


def test_a_failing_readyz() -> None:
    world = world_at("c", tuple(DEAD_ETCD))
    verbose = f"{CURL} {CERTIFICATE} 'https://127.0.0.1:6443/readyz?verbose'"
    same(ask(world, "rke-cp01", verbose), KUBERNETES["curl readyz verbose with etcd dead"])
    lab = ask(world, "rke-cp01", f"{KUBECTL} get --raw /readyz")
    measured = KUBERNETES["readyz with etcd dead"]
    assert lab.rc == measured.rc
    # The capture was cut in the middle of its long line.
    assert lab.err.startswith(measured.err.rstrip("\n"))


def test_tables_have_the_measured_columns() -> None:
    world = world_at("g")
    for label, line in (
        ("get nodes", "get nodes"),
        ("get nodes with a label column", "get nodes -L wetopi.io/role"),
        ("pods wide", "-n argocd get pods -o wide"),
    ):
        lab = ask(world, "rke-cp01", f"{KUBECTL} {line}")
        head, first, *_ = lab.out.splitlines()
        assert head.split() == KUBERNETES[label].out.splitlines()[0].split()
        starts = [head.index(column) for column in ("STATUS", "AGE")]
        assert all(first[start - 3 : start] == "   " for start in starts)


HOLDER = {
    "addr with the VIP": "ip -4 addr show eth0",
    "addr on one line": "ip -4 -o addr show eth0",
    "addr json": "ip -j -4 addr show eth0",
    "loopback json": "ip -j -4 addr show lo",
    "no such device": "ip -4 addr show nope0",
}


@pytest.mark.parametrize("label", HOLDER)
def test_ip_on_the_holder(label: str) -> None:
    same(ask(world_at("b"), "rke-cp01", HOLDER[label]), NETWORK[label])


def test_ip_without_the_vip() -> None:
    lab = ask(world_at("b", "vip-nowhere"), "rke-cp01", "ip -4 addr show eth0")
    same(lab, NETWORK["addr without the VIP"])


def test_ip_with_another_prefix() -> None:
    world = world_at("b", ("vip-prefix", 32))
    same(ask(world, "rke-cp01", "ip -4 addr show eth0"), NETWORK["addr with a /32"])
    same(ask(world, "rke-cp01", "ip -j -4 addr show eth0"), NETWORK["addr json with a /32"])


def test_a_decoy_is_found_by_grep() -> None:
    world = world_at("b", "vip-nowhere", ("decoy-address", "rke-cp01"))
    lab = ask(world, "rke-cp01", "bash -c 'ip -4 addr show eth0 | grep -F 10.72.0.20'")
    same(lab, NETWORK["decoy"])


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("ping", "ping -c 3 -i 0.2 10.72.0.20"),
        ("ping of the largest packet", "ping -c 3 -i 0.2 -M do -s 1472 10.72.0.20"),
        ("ping of one byte more", "ping -c 3 -i 0.2 -M do -s 1473 10.72.0.20"),
        ("route on link", "ip route get 10.72.0.2"),
        ("route through the gateway", "ip route get 192.168.96.10"),
    ],
)
def test_network(label: str, line: str) -> None:
    host = "rke-cp01" if line.startswith("ip") else "wetopi-ops01"
    same(ask(world_at("b"), host, line), NETWORK[label])


@pytest.mark.parametrize(
    ("label", "address", "port", "faults"),
    [
        ("nc open", "10.72.0.21", 6443, []),
        ("nc refused", "10.72.0.21", 3300, []),
        ("nc timed out", "10.72.0.21", 6443, [("host-unreachable", "rke-cp01")]),
    ],
)
def test_nc(label: str, address: str, port: int, faults: list[object]) -> None:
    line = f"nc.openbsd -vz -w 1 {address} {port}"
    lab, measured = ask(world_at("b", *faults), "wetopi-ops01", line), NETWORK[label]
    assert lab.rc == measured.rc
    assert lab.out == measured.out
    seen, expected = (
        comparable(text).replace(f" {port} ", " P ").replace(f" {other} ", " P ")
        for text, other in ((lab.err, port), (measured.err, measured.command.split()[-1]))
    )
    assert seen == expected


def test_readyz_has_no_newline() -> None:
    """A gate that compares with `ok` must not depend on one."""
    world = world_at("c")
    for line in (
        f"{KUBECTL} get --raw /readyz",
        f"{CURL} {CERTIFICATE} https://127.0.0.1:6443/readyz",
    ):
        assert ask(world, "rke-cp01", line).out == "ok"
