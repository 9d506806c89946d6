"""Pods of the lab: scheduled, run, logged, ended, deleted, as scheduler and kubelets do it."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from selftests.lab.cluster_api import POD, Api, condition
from selftests.lab.living import Living, live

WORKERS = {"rke-platform01", "rke-platform02", "rke-platform03"}
PLATFORM = {"wetopi.io/role": "platform"}


def test_a_pod_runs_on_a_worker_with_an_address_of_its_node() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        made = api.pod("p", "sleep", "60", labels={"app": "p"})
        assert made["status"]["phase"] == "Pending"
        pod = await api.phase("p", "Running")
        node = pod["spec"]["nodeName"]
        assert node in WORKERS
        cilium = lab.world.objects.get("CiliumNode", "", node)
        assert cilium is not None
        assert ip_address(pod["status"]["podIP"]) in ip_network(
            cilium["spec"]["ipam"]["podCIDRs"][0]
        )
        endpoint = lab.world.objects.get("CiliumEndpoint", "default", "p")
        assert endpoint is not None
        networking = endpoint["status"]["networking"]
        assert networking["addressing"] == [{"ipv4": pod["status"]["podIP"]}]
        assert networking["node"] == lab.world.hosts[node].machine.address
        assert pod["status"]["containerStatuses"][0]["ready"]
        assert condition(pod, "Ready")["status"] == "True"
        assert api.ask("DELETE", f"{POD}/p").document["metadata"]["deletionTimestamp"]
        assert "deletionTimestamp" in api.now("p")["metadata"]
        await api.gone("Pod", "default", "p")
        assert lab.world.objects.peek("CiliumEndpoint", "default", "p") is None

    live(test, phase="d2")


def test_three_pods_of_one_owner_are_spread() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        labels = {"app": "web"}
        spec = {"containers": [{"name": "web", "image": "nginx:1.27"}]}
        body = {
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
        api.make("/apis/apps/v1/namespaces/default/deployments", body)

        def ready() -> int:
            found = lab.world.objects.peek("Deployment", "default", "web")
            return int((found or {})["status"].get("readyReplicas") or 0)

        await lab.until(lambda: ready() == 3)
        pods = lab.world.objects.select("Pod", "default")
        assert {pod["spec"]["nodeName"] for pod in pods} == WORKERS
        assert len({pod["status"]["podIP"] for pod in pods}) == 3
        gone = pods[0]["metadata"]
        api.ask("DELETE", f"{POD}/{gone['name']}")
        await api.gone("Pod", "default", gone["name"])
        await lab.until(lambda: ready() == 3)
        uids = {pod["metadata"]["uid"] for pod in lab.world.objects.select("Pod", "default")}
        assert gone["uid"] not in uids
        api.ask("DELETE", "/apis/apps/v1/namespaces/default/deployments/web")
        await lab.until(lambda: not lab.world.objects.select("Pod", "default"))

    live(test, phase="d2")


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        ({"nodeSelector": PLATFORM}, WORKERS),
        ({"nodeName": "rke-cp02"}, {"rke-cp02"}),
        ({"nodeSelector": {"kubernetes.io/hostname": "rke-cp03"},
          "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "value": "true"}]},
         {"rke-cp03"}),
        ({"tolerations": [{"operator": "Exists"}], "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "wetopi.io/role", "operator": "DoesNotExist"}],
                 "matchFields": [{"key": "metadata.name", "operator": "NotIn",
                                  "values": ["rke-cp01", "rke-cp02"]}]}]}}}}, {"rke-cp03"}),
    ],
)  # fmt: skip
def test_where_a_pod_lands(spec: dict[str, object], nodes: set[str]) -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        api.pod("p", "sleep", "60", **spec)
        assert (await api.phase("p", "Running"))["spec"]["nodeName"] in nodes

    live(test, phase="d2")


def test_a_pod_that_no_node_fits_waits_until_one_does() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        api.pod("p", "sleep", "60", nodeSelector={"disk": "fast"})
        await lab.until(lambda: bool(api.told("FailedScheduling")))
        refused = condition(api.now("p"), "PodScheduled")
        assert (refused["status"], refused["reason"]) == ("False", "Unschedulable")
        assert refused["message"] == (
            "0/6 nodes are available: 3 node(s) didn't match Pod's node affinity/selector, 3 "
            "node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/6 nodes "
            "are available: 6 Preemption is not helpful for scheduling."
        )
        patch = {"metadata": {"labels": {"disk": "fast"}}}
        api.ask("PATCH", "/api/v1/nodes/rke-platform03", patch)
        assert (await api.phase("p", "Running"))["spec"]["nodeName"] == "rke-platform03"

    live(test, phase="d2")


@pytest.mark.parametrize(
    ("argv", "phase", "rc", "log"),
    [
        (("echo", "hello"), "Succeeded", 0, "hello\n"),
        (("sh", "-c", "echo one; echo two >&2; exit 4"), "Failed", 4, "one\ntwo\n"),
        (("nosuch",), "Failed", 128, "executable file not found"),
    ],
)
def test_a_command_ends_with_its_status_and_leaves_its_log(
    argv: tuple[str, ...], phase: str, rc: int, log: str
) -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        api.pod("p", *argv)
        pod = await api.phase("p", "Succeeded", "Failed")
        assert pod["status"]["phase"] == phase
        ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        assert ended["exitCode"] == rc
        assert log in api.ask("GET", f"{POD}/p/log").body
        assert lab.world.objects.peek("CiliumEndpoint", "default", "p") is None

    live(test, phase="d2")


def test_what_ends_is_started_again_if_the_policy_says_so() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        api.pod("p", "false", restartPolicy="OnFailure")
        await lab.until(
            lambda: (api.now("p")["status"].get("containerStatuses") or [{}])[0].get(
                "restartCount", 0
            ) >= 2
        )  # fmt: skip
        assert api.now("p")["status"]["phase"] == "Running"

    live(test, phase="d2")


def test_images_that_cannot_be_pulled() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        for name, image in (("a", "registry.example/unheard:1"), ("b", "docker.io/nginx:1.27")):
            api.pod(name, image=image)
        reasons = {"ErrImagePull", "ImagePullBackOff"}

        def waiting(name: str) -> str:
            status = (api.now(name)["status"].get("containerStatuses") or [{}])[0]
            return str(status.get("state", {}).get("waiting", {}).get("reason"))

        await lab.until(lambda: {waiting("a"), waiting("b")} <= reasons)
        await lab.until(lambda: waiting("a") == waiting("b") == "ImagePullBackOff")
        said = api.ask("GET", f"{POD}/a/log")
        assert said.status == 400
        assert "is waiting to start" in said.document["message"]

    live(test, ("image-pull-fails", "nginx"), phase="d2")


def test_a_namespace_takes_everything_with_it() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        api.make("/api/v1/namespaces", {"metadata": {"name": "n"}})
        store = lab.world.objects
        await lab.until(lambda: store.peek("ServiceAccount", "n", "default") is not None)
        spec = {"containers": [{"name": "c", "image": "nginx:1.27"}]}
        api.make("/api/v1/namespaces/n/pods", {"metadata": {"name": "p"}, "spec": spec})
        ports = {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}
        made = api.make("/api/v1/namespaces/n/services", {"metadata": {"name": "s"}} | ports)
        assert made["spec"]["clusterIP"].startswith("10.68.")
        await lab.until(lambda: api.now("p", "n")["status"]["phase"] == "Running")
        api.ask("DELETE", "/api/v1/namespaces/n")
        await lab.until(
            lambda: (store.peek("Namespace", "", "n") or {"status": {"phase": "Terminating"}})[
                "status"
            ]["phase"] == "Terminating"
        )  # fmt: skip
        await api.gone("Namespace", "", "n")
        left = [item for item in store.everything() if item["metadata"].get("namespace") == "n"]
        assert [item for item in left if item["kind"] != "Event"] == []

    live(test, phase="d2")


def test_pods_of_a_silent_kubelet_do_not_go() -> None:
    async def test(lab: Living) -> None:
        api = Api(lab)
        api.pod("p", "sleep", "60", nodeName="rke-platform01")
        await api.phase("p", "Running")
        await lab.must("rke-platform01", "sudo -n systemctl stop rke2-agent")
        api.ask("DELETE", f"{POD}/p")
        await api.ready("rke-platform01", "Unknown")
        assert "deletionTimestamp" in api.now("p")["metadata"]
        assert condition(api.now("p"), "Ready")["status"] == "False"
        await lab.must("rke-platform01", "sudo -n systemctl start rke2-agent")
        await api.gone("Pod", "default", "p")
        await api.ready("rke-platform01", "True")

    live(test, phase="d2")


def test_nothing_happens_by_itself() -> None:
    """What a scenario took away stays away, and an idle world waits for nothing."""

    async def test(lab: Living) -> None:
        label = {"k8s-app": "cilium"}
        await lab.world.timeline.pause(0.1)
        assert len(lab.world.objects.select("Pod", "kube-system", label)) == 5
        assert lab.world.timeline._events == {}

    live(test, ("pods-missing", {"label": "k8s-app=cilium", "node": "rke-cp02"}), phase="d2")


def test_a_static_pod_whose_object_is_deleted_has_a_new_one() -> None:
    async def test(lab: Living) -> None:
        name, store = "kube-proxy-rke-platform01", lab.world.objects
        before = Api(lab).now(name, "kube-system")["metadata"]["uid"]
        await lab.kubectl("rke-cp01", f"-n kube-system delete pod {name}")
        await lab.until(
            lambda: (store.peek("Pod", "kube-system", name) or {"metadata": {"uid": before}})[
                "metadata"
            ]["uid"] != before
        )  # fmt: skip

    live(test, phase="d2")
