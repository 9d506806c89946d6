"""What operators meet on the hosts: permissions, missing tools, the runbook's own lines."""

from __future__ import annotations

import pytest

from selftests.lab.world import ETCDCTL, KUBECTL, TLS, ask, world_at

C = world_at("c")
RUNBOOK_ETCDCTL = (
    "/var/lib/rancher/rke2/bin/kubectl --kubeconfig /etc/rancher/rke2/rke2.yaml -n kube-system "
    "exec etcd-rke-cp01 -- env ETCDCTL_API=3 etcdctl --endpoints=https://127.0.0.1:2379 "
    f"--cacert={TLS}/etcd/server-ca.crt --cert={TLS}/etcd/client.crt "
    f"--key={TLS}/etcd/client.key member list"
)


def test_the_runbooks_etcdctl_fails_twice() -> None:
    """Handbook 3.2: no `env` in the container, and no client.crt either."""
    first = ask(C, "rke-cp01", f"sudo {RUNBOOK_ETCDCTL}")
    assert first.rc == 1
    assert 'exec: "env": executable file not found in $PATH' in first.err
    second = ask(C, "rke-cp01", f"sudo {RUNBOOK_ETCDCTL.replace('env ETCDCTL_API=3 ', '')}")
    assert second.rc == 128
    assert f"Error: open {TLS}/etcd/client.crt: no such file or directory" in second.err
    assert ask(C, "rke-cp01", f"sudo ls {TLS}/etcd/client.crt").rc == 0


def test_what_ubuntu_may_not_without_sudo() -> None:
    """Handbook 3.1."""
    assert ask(C, "rke-cp01", "kubectl get nodes").rc == 127
    bundled = "/var/lib/rancher/rke2/bin/kubectl get nodes"
    said = ask(C, "rke-cp01", f"KUBECONFIG=/etc/rancher/rke2/rke2.yaml {bundled}")
    assert said.rc == 1
    assert "permission denied" in said.err
    said = ask(C, "rke-cp01", bundled)
    assert said.rc == 1
    assert "localhost:8080 was refused" in said.err
    assert ask(C, "rke-cp01", "cat /etc/rancher/rke2/config.yaml").rc == 1
    assert ask(C, "rke-cp01", f"cat {TLS}/server-ca.crt").rc == 1


def test_sudo_without_a_password() -> None:
    assert ask(C, "rke-cp01", "sudo -n true").rc == 0
    assert ask(C, "rke-cp01", "sudo -n whoami").out == "root\n"
    assert ask(C, "rke-cp01", "sudo -n -u nobody whoami").out == "nobody\n"
    said = ask(C, "rke-cp01", "sudo -n kubectl get nodes")
    assert (said.rc, said.err) == (1, "sudo: kubectl: command not found\n")
    said = ask(C, "rke-cp01", "sudo -n -u keepalived_script true")
    assert (said.rc, said.err.splitlines()[0]) == (1, "sudo: unknown user keepalived_script")


def test_sudo_denied() -> None:
    world = world_at("c", ("sudo-denied", "rke-cp02"))
    said = ask(world, "rke-cp02", "sudo -n true")
    assert (said.rc, said.err) == (1, "sudo: a password is required\n")
    assert ask(world, "rke-cp01", "sudo -n true").rc == 0


def test_the_check_script_runs_for_real() -> None:
    line = "sudo -n /etc/keepalived/check_rke2_api.sh"
    assert ask(C, "rke-cp02", line).rc == 0
    for fault in ("api-refused", "api-not-ready", "supervisor-down"):
        assert ask(world_at("c", (fault, "rke-cp02")), "rke-cp02", line).rc == 1
    unprivileged = line.replace("-n", "-n -u nobody")
    assert ask(C, "rke-cp02", unprivileged).rc == 1


def test_the_token_never_leaves_the_host() -> None:
    line = (
        "sudo -n sed -E "
        "'/^[[:space:]]*[\"'\"'\"']?(agent-)?token[\"'\"'\"']?[[:space:]]*:/d' "
        "/etc/rancher/rke2/config.yaml"
    )
    said = ask(C, "rke-cp02", line)
    assert said.rc == 0
    assert "token" not in said.out
    assert "server: https://10.72.0.20:9345" in said.out


def test_before_anything_is_applied() -> None:
    world = world_at("b")
    said = ask(world, "rke-cp02", "sudo -n find /etc/rancher/rke2 -maxdepth 1 -name config.yaml")
    assert said.rc == 1
    assert said.err.rstrip().endswith("No such file or directory")
    shown = ask(world, "rke-cp02", "systemctl show -p Id,LoadState,ActiveState keepalived.service")
    assert shown.out == "Id=keepalived.service\nLoadState=not-found\nActiveState=inactive\n"
    assert shown.rc == 0


@pytest.mark.parametrize(
    ("line", "out", "rc"),
    [
        ("systemctl is-active keepalived", "active\n", 0),
        ("systemctl is-active rke2-agent", "inactive\n", 3),
        ("systemctl is-active nothing", "inactive\n", 4),
        ("systemctl is-active nothing keepalived", "inactive\nactive\n", 0),
        ("systemctl is-enabled rke2-server", "enabled\n", 0),
    ],
)
def test_systemctl_words(line: str, out: str, rc: int) -> None:
    said = ask(C, "rke-cp01", line)
    assert (said.out, said.rc) == (out, rc)


def test_systemctl_shows_in_the_managers_order() -> None:
    said = ask(C, "rke-cp01", "systemctl show -p SubState,Id,Result keepalived.service")
    assert [line.partition("=")[0] for line in said.out.splitlines()] == [
        "Result", "Id", "SubState",
    ]  # fmt: skip


def test_systemctl_needs_root_to_change() -> None:
    world = world_at("c")
    said = ask(world, "rke-cp01", "systemctl stop keepalived")
    assert said.rc == 1
    assert "authentication required" in said.err.lower()
    assert ask(world, "rke-cp01", "systemctl is-active keepalived").rc == 0


@pytest.mark.parametrize(
    "line",
    [
        "curl --nonsense https://127.0.0.1:6443/",
        "ping -Z 10.72.0.20",
        "ip nonsense",
        f"{KUBECTL} frobnicate",
        f"{KUBECTL} get frobs",
        f"{KUBECTL} -n kube-system exec etcd-rke-cp01 -- {ETCDCTL} frob",
        "frobnicate",
        "systemctl frobnicate x",
        "stat -c %Z /etc",
        f"{KUBECTL} get --raw /apis/frob",
    ],
)
def test_what_the_lab_does_not_know_is_logged(line: str) -> None:
    said = ask(C, "rke-cp01", line)
    assert not said.known
    assert said.err or "?" in said.out


def test_a_missing_tool_is_a_fact_not_a_gap() -> None:
    world = world_at("c", ("tool-missing", {"host": "wetopi-ops01", "tool": "ping"}))
    said = ask(world, "wetopi-ops01", "ping -c 1 10.72.0.20")
    assert (said.rc, said.known) == (127, True)
    assert said.err == "bash: line 1: ping: command not found\n"
