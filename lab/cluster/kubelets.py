"""The kubelets: a pod that is bound to a node runs there, ends, and goes when it is deleted."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from lab import apiwrites, networks
from lab.cluster import containers, events, podstatus, pulls, volumes
from lab.cluster.images import image_of
from lab.cluster.processes import process
from lab.kinds import stamp
from lab.objects import copied
from lab.phase import Phase
from lab.streams import Stdin, Streams

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from lab.cluster.census import Census, Place
    from lab.cluster.work import Work
    from lab.host import Host
    from lab.objects import Object, Store
    from lab.world import World

    Step: TypeAlias = Callable[[Object, Host], None]

_GRACE = 30
_NO_CNI = (
    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for "
    'sandbox: plugin type="cilium-cni" failed (add): unable to connect to Cilium agent'
)


@dataclass(slots=True)
class Kubelets:
    """All kubelets; each acts on its own node's pods while it can talk to the API.

    Attributes:
        held: what waits for a node's kubelet to talk again, by node.
        images: what the cluster's own pods run, beside the images of `images.IMAGES`.
        ended: UIDs of deleted pods whose containers have ended, held by finalizers alone.
    """

    world: World
    store: Store
    census: Census
    work: Work
    held: dict[str, dict[tuple[Place, str], tuple[str, Step]]] = field(default_factory=dict)
    images: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Know the images that are in use."""
        for pod in self.store.each("Pod"):
            self.images |= {each["image"] for each in pod["spec"].get("containers", [])}

    def notice(self, pod: Object) -> None:
        """Act on a pod that was made, bound, changed or deleted."""
        status = pod.get("status", {})
        if not pod["spec"].get("nodeName"):
            return
        if "deletionTimestamp" in pod["metadata"]:
            self._later(pod, self._patience(pod), "end", self._end)
        elif status.get("phase", "Pending") == "Pending" and "containerStatuses" not in status:
            self._later(pod, 0.0, "accept", self._accept)

    def mirror(self, pod: Object) -> None:
        """Make a static pod's object again that somebody has deleted, if the pod still runs."""
        host = self.world.hosts.get(pod["spec"].get("nodeName", ""))
        metadata = pod["metadata"]

        def act() -> None:
            if host is None or not host.posts:
                return
            if pod["spec"]["containers"][0]["name"] not in host.processes:
                return
            again: Object = copied(pod)
            for key in ("deletionTimestamp", "deletionGracePeriodSeconds"):
                again["metadata"].pop(key, None)
            self.world.serial += 1
            again["metadata"]["uid"] = self.world.seed.uuid("mirror", str(self.world.serial))
            again["metadata"]["creationTimestamp"] = stamp(self.world.now())
            self.store.put(again)

        key = ("mirror", metadata["namespace"], metadata["name"])
        self.work.soon(self.world, self.world.pace.replace, key, act)

    def speaks(self, host: Host) -> None:
        """The node's kubelet talks to the API again."""
        for (place, what), (uid, step) in self.held.pop(host.name, {}).items():
            pod = self.store.peek("Pod", *place)
            if pod is not None and pod["metadata"]["uid"] == uid:
                self._later(pod, 0.0, what, step)

    def connected(self, node: str) -> None:
        """The node has its pod network: what could not start without it may."""
        for pod in self.census.pods(self.store, self.census.on.get(node, set())):
            states = [
                each["state"].get("waiting", {})
                for each in pod.get("status", {}).get("containerStatuses", [])
            ]
            if states and all(each.get("reason") == podstatus.WAITING for each in states):
                self._later(pod, 0.0, "pull", self._pull)

    def network_of(self, node: str) -> str | None:
        """The node's part of the pod network, as Cilium knows it."""
        found = self.store.peek("CiliumNode", "", node)
        if found is None or not self.world.phase.reached(Phase.E):
            return None
        cidrs: list[str] = found["spec"]["ipam"].get("podCIDRs") or []
        return cidrs[0] if cidrs else None

    def address(self, pod: Object, node: str) -> bool:
        """Give the pod an address; false where there is no network for it."""
        if pod["spec"].get("hostNetwork"):
            return True
        cidr = self.network_of(node)
        if cidr is not None:
            podstatus.addressed(pod, self.census.free_address(self.store, node, cidr))
        return cidr is not None

    def _later(self, pod: Object, wait: float, what: str, step: Step) -> None:
        """Do the step after a while, if the pod is still the same and its kubelet can talk."""
        metadata = pod["metadata"]
        place, uid = (metadata["namespace"], metadata["name"]), metadata["uid"]

        def fire() -> None:
            found = self.store.get("Pod", *place)
            if found is None or found["metadata"]["uid"] != uid:
                return
            host = self.world.hosts.get(found["spec"]["nodeName"])
            if host is None:
                return
            if host.posts:
                step(found, host)
            else:
                self.held.setdefault(host.name, {})[place, what] = (uid, step)

        self.work.soon(self.world, wait, (what, uid), fire)

    def _accept(self, pod: Object, host: Host) -> None:
        podstatus.accepted(pod, host.machine.address, self.world.now())
        if pod["spec"].get("hostNetwork"):
            podstatus.addressed(pod, host.machine.address)
        self.store.put(pod)
        self._later(pod, self.world.pace.pull, "pull", self._pull)

    def _pull(self, pod: Object, host: Host) -> None:
        absent = next(
            (each["image"] for each in pod["spec"]["containers"] if not self._has(each["image"])),
            None,
        )
        if absent is not None:
            if pulls.failed(self.world, self.store, pod, absent):
                self._later(pod, self.world.pace.backoff, "pull", self._pull)
        elif pod["spec"].get("hostNetwork") or self.network_of(host.name) is not None:
            self._later(pod, self.world.pace.container, "run", self._run)
        else:
            source = f"kubelet, {host.name}"
            events.record(
                self.world, self.store, pod, "FailedCreatePodSandBox", _NO_CNI, source=source
            )

    def _has(self, image: str) -> bool:
        if self.world.trouble.cannot_pull(image):
            return False
        return image in self.images or image_of(image) is not None

    def _run(self, pod: Object, host: Host) -> None:
        now = self.world.now()
        if pod["status"].get("phase") != "Pending":
            # The machine has restarted meanwhile, and all its pods with it.
            return
        if self.world.trouble.crashes(pod):
            self._crash(pod)
            return
        reason, why = volumes.why_not_mounted(self.world, self.store, pod)
        if why:
            if reason:
                source = f"kubelet, {host.name}"
                events.record(self.world, self.store, pod, reason, why, source=source)
            self._later(pod, self.world.pace.backoff, "run", self._run)
            return
        if not self.address(pod, host.name):
            return
        podstatus.running(pod, now)
        self.store.put(pod)
        if networks.on_pod_network(pod) and self.world.phase.reached(Phase.E):
            seed, address = self.world.seed, host.machine.address
            self.store.put(networks.cilium_endpoint(seed, pod, address, now))
        for status in pod["status"]["containerStatuses"]:
            if argv := containers.entry(pod, status["name"]):
                self.start(pod, status["name"], argv)

    def start(self, pod: Object, name: str, argv: tuple[str, ...]) -> None:
        """Run the container's own process in the background."""
        container = self.world.containers.of(self.world, pod, name)
        volumes.mount(self.world, self.store, pod, container)
        place = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        uid = pod["metadata"]["uid"]

        def ended(task: asyncio.Task[int]) -> None:
            found = self.store.get("Pod", *place)
            if task.cancelled() or found is None or found["metadata"]["uid"] != uid:
                return
            self._exited(found, name, task.result())

        container.former, container.log = container.log, bytearray()
        streams = Streams(Stdin(), container.log, container.log)
        container.task = self.world.timeline.run(process(self.world, pod, name, argv, streams))
        container.task.add_done_callback(ended)

    def _exited(self, pod: Object, name: str, rc: int) -> None:
        now, policy = self.world.now(), pod["spec"].get("restartPolicy", "Always")
        status = podstatus.terminated(pod, name, rc, now)
        if policy == "Always" or (policy == "OnFailure" and rc):
            text = f"back-off 10s restarting failed container={name} pod={pod['metadata']['name']}"
            status |= {
                "lastState": dict(status["state"]),
                "state": {"waiting": {"message": text, "reason": "CrashLoopBackOff"}},
            }
            podstatus.unready(pod, now)
            wait = self.world.pace.backoff * 2 ** min(status["restartCount"], 5)
            self._later(pod, wait, f"restart {name}", partial(self._restart, name))
        elif all("terminated" in each["state"] for each in pod["status"]["containerStatuses"]):
            podstatus.over(pod, now)
        self.store.put(pod)

    def _restart(self, name: str, pod: Object, host: Host) -> None:
        del host
        podstatus.again(pod, name, self.world.now())
        self.store.put(pod)
        self.start(pod, name, containers.entry(pod, name))

    def _crash(self, pod: Object) -> None:
        name = pod["metadata"]["name"]
        text = f"back-off 5m0s restarting failed container in pod {name}"
        pod["status"]["phase"] = "Running"
        for status in pod["status"]["containerStatuses"]:
            status["restartCount"] += 5
        podstatus.waiting(pod, "CrashLoopBackOff", text, self.world.now())
        self.store.put(pod)

    def _patience(self, pod: Object) -> float:
        """How long its containers take to end."""
        grace = pod["metadata"].get("deletionGracePeriodSeconds", _GRACE)
        pace = self.world.pace
        runs = any(containers.entry(pod, each["name"]) for each in pod["spec"]["containers"])
        return pace.stubborn * grace / _GRACE if runs else pace.terminate

    def _end(self, pod: Object, host: Host) -> None:
        del host
        if self.world.trouble.lasts(pod):
            return
        uid = pod["metadata"]["uid"]
        volumes.unmount(self.world, self.store, pod)
        self.world.containers.forget(uid)
        if pod["metadata"].get("finalizers"):
            self.ended.add(uid)
        else:
            apiwrites.finish(self.world, self.store, pod)
