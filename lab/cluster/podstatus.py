"""The status that a kubelet writes for its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.cluster import conditions
from lab.kinds import stamp

if TYPE_CHECKING:
    from datetime import datetime

    from lab.objects import Object

WAITING = "ContainerCreating"
_UNREADY = "containers with unready status: [{}]"


def accepted(pod: Object, host_address: str, now: datetime) -> None:
    """The kubelet has seen the pod; nothing runs yet."""
    status = pod["status"]
    status |= {"hostIP": host_address, "hostIPs": [{"ip": host_address}], "phase": "Pending"}
    status.setdefault("startTime", stamp(now))
    status.setdefault("qosClass", "BestEffort")
    status["containerStatuses"] = [
        _container(spec, {"waiting": {"reason": WAITING}}) for spec in pod["spec"]["containers"]
    ]
    conditions.state(pod, "Initialized", now, holds=True)
    if conditions.of(pod, "PodScheduled") == "":
        conditions.state(pod, "PodScheduled", now, holds=True)
    unready(pod, now)


def addressed(pod: Object, address: str) -> None:
    """The pod has an address."""
    pod["status"] |= {"podIP": address, "podIPs": [{"ip": address}]}


def waiting(pod: Object, reason: str, message: str, now: datetime) -> None:
    """Its containers wait, for this reason."""
    for status in pod["status"]["containerStatuses"]:
        status |= {
            "ready": False,
            "started": False,
            "state": {"waiting": {"message": message, "reason": reason}},
        }
    unready(pod, now)


def running(pod: Object, now: datetime, *, ready: bool = True) -> None:
    """All its containers run."""
    for status in pod["status"]["containerStatuses"]:
        status |= {
            "ready": ready,
            "started": True,
            "state": {"running": {"startedAt": stamp(now)}},
        }
    pod["status"]["phase"] = "Running"
    if not ready:
        unready(pod, now)
        return
    for kind in ("PodReadyToStartContainers", "Ready", "ContainersReady"):
        conditions.state(pod, kind, now, holds=True)


def terminated(pod: Object, name: str, rc: int, now: datetime) -> Object:
    """One container has ended; its status."""
    status: Object = next(
        each for each in pod["status"]["containerStatuses"] if each["name"] == name
    )
    started = status["state"].get("running", {}).get("startedAt", stamp(now))
    reasons = {0: "Completed", 128: "StartError"}
    status |= {
        "ready": False,
        "started": False,
        "state": {
            "terminated": {
                "exitCode": rc,
                "finishedAt": stamp(now),
                "reason": reasons.get(rc, "Error"),
                "startedAt": started,
            }
        },
    }
    return status


def restarted(pod: Object, now: datetime) -> None:
    """Its containers have ended and were started again."""
    for status in pod["status"]["containerStatuses"]:
        last = status["state"]
        ended = last.get("terminated") or {
            "exitCode": 255,
            "finishedAt": stamp(now),
            "reason": "Unknown",
            "startedAt": last.get("running", {}).get("startedAt", stamp(now)),
        }
        status["lastState"] = {"terminated": ended}
        status["restartCount"] += 1


def lost(pod: Object, now: datetime) -> None:
    """Its containers are gone with the machine, and are not started again."""
    for status in pod["status"]["containerStatuses"]:
        status["state"] = {"terminated": {**status["lastState"]["terminated"]}}
        status |= {"ready": False, "started": False, "lastState": {}}
    over(pod, now)


def again(pod: Object, name: str, now: datetime) -> None:
    """One container was started again."""
    statuses = pod["status"]["containerStatuses"]
    for status in statuses:
        if status["name"] == name:
            status |= {
                "ready": True,
                "restartCount": status["restartCount"] + 1,
                "started": True,
                "state": {"running": {"startedAt": stamp(now)}},
            }
    if all(status["ready"] for status in statuses):
        for kind in ("Ready", "ContainersReady"):
            conditions.state(pod, kind, now, holds=True)


def over(pod: Object, now: datetime) -> None:
    """All its containers have ended for good."""
    rcs = [each["state"]["terminated"]["exitCode"] for each in pod["status"]["containerStatuses"]]
    pod["status"]["phase"] = "Failed" if any(rcs) else "Succeeded"
    reason = "PodFailed" if any(rcs) else "PodCompleted"
    for kind in ("Ready", "ContainersReady"):
        conditions.state(pod, kind, now, holds=False, reason=reason)


def unready(pod: Object, now: datetime) -> None:
    """None of its containers is ready."""
    names = " ".join(each["name"] for each in pod["spec"]["containers"])
    why = {"reason": "ContainersNotReady", "message": _UNREADY.format(names)}
    for kind in ("Ready", "ContainersReady"):
        conditions.state(pod, kind, now, holds=False, **why)


def _container(spec: Object, state: Object) -> Object:
    return {
        "image": spec["image"],
        "imageID": "",
        "lastState": {},
        "name": spec["name"],
        "ready": False,
        "restartCount": 0,
        "started": False,
        "state": state,
    }
