"""Drains, evictions and budgets of the lab beside the captures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from selftests.lab.captures import load
from selftests.lab.cluster_api import POD, Api
from selftests.lab.living import Living, live

if TYPE_CHECKING:
    from selftests.lab.world import Said

CP, NODE = "rke-cp01", "rke-platform01"
DRAIN = f"drain {NODE} --ignore-daemonsets --delete-emptydir-data"
CAPTURES = load("drain")
RELAY = "k8s-app=hubble-relay"


def lines(text: str) -> list[str]:
    """Without names of pods and nodes, in any order, each line once."""
    text = re.sub(r"(default|kube-system)/[a-z0-9-]+|web-[a-z0-9-]+", "POD", text)
    text = re.sub(r"hubble-[a-z0-9-]+|by-hand|bare|scratch-[a-z0-9-]+|nothing-may-go", "POD", text)
    text = re.sub(r"rke-platform0\d", "NODE", text).replace('"kube-system"', '"default"')
    return sorted(set(re.sub(r"\[error.*\]|reached: [0-9.]+s", "…", text).splitlines()))


def same(said: Said, label: str) -> None:
    capture = CAPTURES[label]
    assert said.rc == capture.rc
    assert lines(said.out) == lines(capture.out)
    err = re.sub(r"Warning: ignoring DaemonSet-managed Pods: .*\n", "", said.err)
    assert "nil" not in err
    assert lines(err) == lines(capture.err)


def on(lab: Living, node: str) -> set[str]:
    """What a drain leaves behind there that it should not."""
    return {
        pod["metadata"]["name"]
        for pod in lab.world.objects.select("Pod", on=node)
        if (pod["metadata"].get("ownerReferences") or [{}])[0].get("kind")
        not in ("DaemonSet", "Node")
    }


def test_a_drain_empties_the_node_and_its_pods_come_back_elsewhere() -> None:
    async def test(lab: Living) -> None:
        label = {"k8s-app": "hubble-relay"}
        before = {pod["metadata"]["uid"] for pod in lab.world.objects.select("Pod", None, label)}
        same(await lab.kubectl(CP, DRAIN), "drained")
        assert on(lab, NODE) == set()
        node = lab.world.objects.peek("Node", "", NODE) or {}
        assert node["spec"]["unschedulable"]
        assert [each["key"] for each in node["spec"]["taints"]] == [
            "node.kubernetes.io/unschedulable"
        ]
        assert "Ready,SchedulingDisabled" in (await lab.kubectl(CP, f"get node {NODE}")).out

        def back() -> bool:
            found = lab.world.objects.peek("Deployment", "kube-system", "hubble-relay") or {}
            pods = lab.world.objects.select("Pod", None, label)
            uids = {pod["metadata"]["uid"] for pod in pods}
            return found["status"].get("readyReplicas") == 1 and not uids & before

        await lab.until(back)
        assert on(lab, NODE) == set()
        same(await lab.kubectl(CP, DRAIN), "drained already")
        same(await lab.kubectl(CP, f"uncordon {NODE}"), "uncordoned")
        same(await lab.kubectl(CP, f"uncordon {NODE}"), "uncordoned already")
        node = lab.world.objects.peek("Node", "", NODE) or {}
        assert "unschedulable" not in node["spec"]
        assert "taints" not in node["spec"]

    live(test, phase="w")


def test_an_unmanaged_pod_is_refused_and_the_node_stays_cordoned() -> None:
    async def test(lab: Living) -> None:
        same(await lab.kubectl(CP, DRAIN), "unmanaged")
        assert (lab.world.objects.peek("Node", "", NODE) or {})["spec"]["unschedulable"]
        assert "by-hand" in on(lab, NODE)
        said = await lab.kubectl(CP, f"{DRAIN} --force")
        assert said.rc == 0
        assert "deleting Pods that declare no controller: default/by-hand" in said.err

    live(test, ("unmanaged-pod", NODE), phase="w")


def test_a_budget_holds_a_drain_until_its_limit() -> None:
    async def test(lab: Living) -> None:
        said = await lab.kubectl(CP, f"{DRAIN} --timeout=200ms")
        same(said, "held by a budget")
        assert said.out.count("evicting pod kube-system/hubble-relay") > 2
        assert any(name.startswith("hubble-relay") for name in on(lab, NODE))

    ui = ("pdb-forbids", {"label": "k8s-app=hubble-ui", "name": "ui"})
    live(test, ("pdb-forbids", RELAY), ui, phase="w")


def test_scratch_is_only_emptied_if_that_is_said() -> None:
    async def test(lab: Living) -> None:
        said = await lab.kubectl(CP, f"drain {NODE} --ignore-daemonsets")
        assert said.rc == 1
        assert "local storage (use --delete-emptydir-data to override): default/scratch" in said.err
        assert (await lab.kubectl(CP, DRAIN)).rc == 0
        await lab.until(lambda: bool(lab.world.objects.select("Pod", "default")))
        pods = lab.world.objects.select("Pod", "default")
        assert {pod["spec"].get("nodeName") for pod in pods} & {NODE} == set()

    live(test, ("emptydir-pod", NODE), phase="w")


def test_an_accepted_eviction_is_not_a_pod_that_is_gone() -> None:
    async def test(lab: Living) -> None:
        said = await lab.kubectl(CP, f"{DRAIN} --timeout=200ms")
        assert said.rc == 1
        assert 'error when waiting for pod "hubble-relay' in said.err
        assert "global timeout reached: 0.2s" in said.err
        assert any(name.startswith("hubble-relay") for name in on(lab, NODE))

    live(test, ("eviction-accepted-but-pod-stays", RELAY), phase="w")


def test_an_uncordon_that_does_nothing() -> None:
    async def test(lab: Living) -> None:
        await lab.kubectl(CP, f"cordon {NODE}")
        assert (await lab.kubectl(CP, f"uncordon {NODE}")).out == f"node/{NODE} uncordoned\n"
        assert (lab.world.objects.peek("Node", "", NODE) or {})["spec"]["unschedulable"]

    live(test, "drained-node-stays-cordoned", phase="w")


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("drain nosuch --ignore-daemonsets", "no such node"),
        ("wait --for=condition=Ready pod/nosuch --timeout=2s", "wait for no such pod"),
        ("wait --for=condition=Ready pod -l app=nothing --timeout=2s", "wait for nothing"),
        ("run p1 --image=busybox --restart=Never -- sleep 60", "run"),
    ],
)
def test_other_verbs(words: str, label: str) -> None:
    async def test(lab: Living) -> None:
        said = await lab.kubectl(CP, words)
        capture = CAPTURES[label]
        assert (said.rc, said.out, said.err) == (capture.rc, capture.out, capture.err)

    live(test, phase="w")


def test_a_budget_counts_and_answers_429() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        for name in ("a", "b", "c"):
            api.pod(name, "sleep", "60", labels={"app": "web"})
        for name in ("a", "b", "c"):
            await api.phase(name, "Running")
        api.make(
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            {
                "metadata": {"name": "web"},
                "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
            },
        )

        def status() -> dict[str, int]:
            found = lab.world.objects.peek("PodDisruptionBudget", "default", "web") or {}
            status: dict[str, int] = found["status"]
            return status

        await lab.until(lambda: status()["currentHealthy"] == 3)
        assert (status()["desiredHealthy"], status()["disruptionsAllowed"]) == (2, 1)

        def evict(name: str) -> tuple[int, dict[str, object]]:
            body = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name}}
            answer = api.ask("POST", f"{POD}/{name}/eviction", body)
            return answer.status, answer.document

        assert evict("a")[0] == 201
        code, refusal = evict("b")
        assert (code, refusal["reason"]) == (429, "TooManyRequests")
        assert refusal["message"] == (
            "Cannot evict pod as it would violate the pod's disruption budget."
        )
        assert refusal["details"] == {
            "causes": [
                {
                    "message": "The disruption budget web needs 2 healthy pods and has 2 currently",
                    "reason": "DisruptionBudget",
                }
            ]
        }
        await api.gone("Pod", "default", "a")
        await lab.until(lambda: status()["expectedPods"] == 2)
        assert evict("nosuch")[0] == 404

    live(test, phase="w")
