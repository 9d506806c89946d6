"""A node whose machine has booted: its kubelet says so, starts its pods again, and is Ready."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab import networks
from lab.cluster import containers, joining, nodes, podstatus
from lab.cluster.census import is_over
from lab.phase import Phase
from lab.trouble import Reboot

if TYPE_CHECKING:
    from lab.cluster.kubelets import Kubelets
    from lab.host import Host
    from lab.objects import Object


@dataclass(frozen=True, slots=True)
class Return:
    """The way back of one node, in the store that its kubelets write to."""

    kubelets: Kubelets
    host: Host

    def begin(self) -> None:
        """Say that the machine has booted, if it has; without a CNI nothing comes back."""
        world, store, name = self.kubelets.world, self.kubelets.store, self.host.name
        node = store.get("Node", "", name)
        if node is None or node["status"]["nodeInfo"]["bootID"] == self.host.boot_id:
            return
        node["status"]["nodeInfo"]["bootID"] = self.host.boot_id
        trouble = world.trouble.reboot.get(name)
        if trouble is Reboot.LABEL_LOST:
            node["metadata"]["labels"].pop("wetopi.io/role", None)
        store.put(node)
        if not world.phase.reached(Phase.E):
            return
        if trouble is not Reboot.UNNOTICED:
            world.controllers.returning.add(name)
            nodes.not_ready(world, store, name)
            nodes.agent_down(world, store, name)
        for pod in self._pods():
            self._restart(pod)
        self.kubelets.work.soon(world, world.pace.cni, ("return", name), self._finish)

    def _pods(self) -> list[Object]:
        pods = self.kubelets.store.select("Pod", on=self.host.name)
        return [
            pod
            for pod in pods
            if pod["status"].get("containerStatuses")
            and not is_over(pod)
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def _restart(self, pod: Object) -> None:
        now = self.kubelets.world.now()
        podstatus.restarted(pod, now)
        if pod["spec"].get("restartPolicy") == "Never":
            podstatus.lost(pod, now)
        elif "waiting" not in pod["status"]["containerStatuses"][0]["state"]:
            podstatus.waiting(pod, podstatus.WAITING, "", now)
        self.kubelets.store.put(pod)

    def _finish(self) -> None:
        world, store, name = self.kubelets.world, self.kubelets.store, self.host.name
        world.controllers.returning.discard(name)
        if not self.host.posts:
            return
        trouble = world.trouble.reboot.get(name)
        if trouble is Reboot.NOT_READY:
            return
        if trouble is Reboot.TAINT_STAYS:
            world.trouble.clinging_taints.add(name)
        agents = {pod["metadata"]["uid"] for pod in nodes.agents(store, name)}
        if trouble is not Reboot.AGENT_DOWN:
            nodes.agent_up(world, store, name)
        nodes.ready(world, store, name)
        for pod in self._pods():
            if pod["metadata"]["uid"] not in agents:
                self._run(pod)
        if trouble is Reboot.FLAPS:
            up = down = world.pace.flap
            joining.flap(world, store, self.kubelets.work, name, up=up, down=down)

    def _run(self, pod: Object) -> None:
        """Its containers run again, in a sandbox with an address of its own."""
        world, store = self.kubelets.world, self.kubelets.store
        if world.trouble.crashes(pod):
            return
        if not self.kubelets.address(pod, self.host.name):
            return
        podstatus.running(pod, world.now())
        store.put(pod)
        if networks.on_pod_network(pod):
            address = self.host.machine.address
            made = networks.cilium_endpoint(world.seed, pod, address, world.now())
            store.put(made)
        for status in pod["status"]["containerStatuses"]:
            if argv := containers.entry(pod, status["name"]):
                self.kubelets.start(pod, status["name"], argv)
