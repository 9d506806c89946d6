"""What the API server fills in when a pod, a Service or a controller is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import services
from lab.admission import admits
from lab.objects import RESOURCES
from lab.statuses import invalid

if TYPE_CHECKING:
    from lab.objects import Object, Store
    from lab.statuses import Answer
    from lab.world import World

_WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
_KINDS = {resource.kind: resource for resource in RESOURCES}
# Admission DefaultTolerationSeconds: five minutes on a node that is gone.
_BORN_TOLERATIONS: list[Object] = [
    {"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300}
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
]


@admits("Pod")
def pod(world: World, store: Store, item: Object) -> Answer | None:
    """A pod without containers is refused; defaults, tolerations, and its status at birth."""
    del world, store
    spec = dict(item.get("spec") or {})
    name = item["metadata"]["name"]
    if not spec.get("containers"):
        return invalid(_KINDS["Pod"], name, "spec.containers", "Required value")
    for index, container in enumerate(spec["containers"]):
        for wanted in ("name", "image"):
            if not container.get(wanted):
                field = f"spec.containers[{index}].{wanted}"
                return invalid(_KINDS["Pod"], name, field, "Required value")
    tolerations: list[Object] = list(spec.get("tolerations") or [])
    keys = {each.get("key") for each in tolerations}
    tolerations += [dict(each) for each in _BORN_TOLERATIONS if each["key"] not in keys]
    item["spec"] = {
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
    } | spec
    item["spec"]["containers"] = [_container(each) for each in spec["containers"]]
    item["spec"]["tolerations"] = tolerations
    item["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
    return None


def _container(spec: Object) -> Object:
    tag = spec["image"].rpartition("/")[2].partition(":")[2]
    return {
        "imagePullPolicy": "IfNotPresent" if tag not in ("", "latest") else "Always",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    } | spec


@admits("Service")
def service(world: World, store: Store, item: Object) -> Answer | None:
    """A ClusterIP, unless the Service is headless."""
    spec: Object = {
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "sessionAffinity": "None",
        "type": "ClusterIP",
    } | dict(item.get("spec") or {})
    if "clusterIP" not in spec:
        spec["clusterIP"] = services.free_address(store, world.seed, item["metadata"]["uid"])
    spec["clusterIPs"] = [spec["clusterIP"]]
    spec["ports"] = [
        {"protocol": "TCP", "targetPort": port.get("port")} | port
        for port in spec.get("ports") or []
    ]
    item["spec"] = spec
    item["status"] = {"loadBalancer": {}}
    return None


@admits("Namespace")
def namespace(world: World, store: Store, item: Object) -> Answer | None:
    """It carries its own name as a label, and is held until it is empty."""
    del world, store
    name = item["metadata"]["name"]
    labels = dict(item["metadata"].get("labels") or {})
    item["metadata"]["labels"] = labels | {"kubernetes.io/metadata.name": name}
    item["spec"] = {"finalizers": ["kubernetes"]}
    item["status"] = {"phase": "Active"}
    return None


def workload(world: World, store: Store, item: Object) -> Answer | None:
    """One replica unless it says how many; nothing runs yet."""
    del world, store
    spec = dict(item.get("spec") or {})
    selector = (spec.get("selector") or {}).get("matchLabels") or {}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not selector or any(labels.get(key) != value for key, value in selector.items()):
        shown = " ".join(f'"{key}":"{value}"' for key, value in labels.items())
        why = (
            f"Invalid value: {{{shown}}}: `selector` does not match template `labels`"
            if selector
            else "Required value"
        )
        field = "spec.template.metadata.labels" if selector else "spec.selector"
        return invalid(_KINDS[item["kind"]], item["metadata"]["name"], field, why)
    if item["kind"] != "DaemonSet":
        spec.setdefault("replicas", 1)
    item["spec"] = spec
    item["status"] = {"observedGeneration": 0} | ({} if "replicas" not in spec else {"replicas": 0})
    return None


for _kind in _WORKLOADS:
    admits(_kind)(workload)


@admits("PodDisruptionBudget")
def budget(world: World, store: Store, item: Object) -> Answer | None:
    """Until its controller has counted, it allows nothing."""
    del world, store
    item["status"] = {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
    }
    return None
