"""Who acts when an object changes: scheduler, kubelets, controllers. Nothing is polled."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from lab import taints
from lab.admission import lingers
from lab.cluster import (
    accounts,
    defaults,
    disruption,
    endpoints,
    joining,
    logs,
    scheduler,
    spaces,
    volumes,
)
from lab.cluster.census import Census, is_over, owner_of
from lab.cluster.kubelets import Kubelets
from lab.cluster.replicas import KINDS, Replicas
from lab.cluster.returning import Return
from lab.cluster.selectors import selects
from lab.cluster.work import Work
from lab.pods import MIRROR

if TYPE_CHECKING:
    from lab.host import Host
    from lab.objects import Object, Store
    from lab.world import World

# They register what the API does by itself for their kinds.
REGISTERED = (accounts, defaults, logs, volumes)


@dataclass(slots=True)
class Manager:
    """The controllers of the world's own objects.

    Before `begin` nobody acts: what a fault or a scenario puts there stays as it is, until
    something behind it changes. A cluster that was restored has a store of its own, and no
    controllers.
    """

    work: Work = field(default_factory=Work)
    census: Census = field(default_factory=Census)
    kubelets: Kubelets | None = None

    def begin(self, world: World) -> None:
        """Act from now on."""
        store = world.objects
        self.census.begin(store)
        self.kubelets = Kubelets(world, store, self.census, self.work)
        self.kubelets.begin()
        replicas = Replicas(world, store, self.census)
        world.trouble.idle |= set(replicas.short())
        volumes.begin(world, store, self.work)
        store.watch(partial(self._notice, world, store, replicas))
        world.timeline.watch(lambda: self.work.resume(world))
        joining.begin(world, store, self.work)
        accounts.begin(world)

    def speaks(self, host: Host) -> None:
        """The host's kubelet talks to the API again."""
        if self.kubelets is not None:
            self.kubelets.speaks(host)
            Return(self.kubelets, host).begin()

    def _notice(
        self,
        world: World,
        store: Store,
        replicas: Replicas,
        before: Object | None,
        after: Object | None,
    ) -> None:
        item = after or before
        assert item is not None
        kind = item["kind"]
        if kind == "Pod":
            self.census.notice(before, after)
            self._pod(world, store, replicas, before, after)
        elif kind == "Node":
            self._node(world, store, replicas, before, after)
        elif kind in KINDS:
            self._owner(world, replicas, item)
        elif kind == "ServiceAccount" and before is None:
            # Without it no pod could be made there.
            for each in sorted(KINDS):
                for owner in list(store.each(each, item["metadata"]["namespace"])):
                    self._owner(world, replicas, owner)
        elif kind == "Namespace" and after is not None:
            if "deletionTimestamp" in after["metadata"]:
                name = after["metadata"]["name"]
                act = partial(spaces.empty, world, store, self.work, name)
                self.work.soon(world, 0.0, ("namespace", name), act)
        elif kind == "Service" and after is not None:
            self._service(world, store, after)
        elif kind == "PodDisruptionBudget" and after is not None:
            self._budget(world, store, after)
        elif kind == "CiliumNode" and after is not None and self.kubelets is not None:
            self.kubelets.connected(after["metadata"]["name"])

    def _pod(
        self,
        world: World,
        store: Store,
        replicas: Replicas,
        before: Object | None,
        after: Object | None,
    ) -> None:
        pod = after or before
        assert pod is not None
        metadata = pod["metadata"]
        place = (metadata["namespace"], metadata["name"])
        if after is None:
            world.containers.forget(metadata["uid"])
            store.delete("CiliumEndpoint", *place)
            if MIRROR in metadata.get("annotations", {}) and self.kubelets is not None:
                self.kubelets.mirror(pod)
        elif not after["spec"].get("nodeName"):
            if "deletionTimestamp" not in metadata and not is_over(after):
                self._schedule(world, store, place)
        elif self.kubelets is not None:
            self.kubelets.notice(after)
        if after is not None and is_over(after):
            store.delete("CiliumEndpoint", *place)
        owner = owner_of(pod)
        owned = owner and store.peek(owner["kind"], metadata["namespace"], owner["name"])
        if owned is not None:
            self._owner(world, replicas, owned)
        for item in endpoints.serving(store, pod):
            self._service(world, store, item)
        for item in store.each("PodDisruptionBudget", metadata["namespace"]):
            if selects(item["spec"].get("selector"), pod):
                self._budget(world, store, item)

    def _schedule(self, world: World, store: Store, place: tuple[str, str]) -> None:
        def act() -> None:
            pod = store.peek("Pod", *place)
            if pod is not None and not pod["spec"].get("nodeName"):
                scheduler.place(world, store, self.census, pod)

        self.work.soon(world, world.pace.schedule, ("schedule", *place), act)

    def _node(
        self,
        world: World,
        store: Store,
        replicas: Replicas,
        before: Object | None,
        after: Object | None,
    ) -> None:
        if after is not None:
            name = after["metadata"]["name"]
            if after["spec"].get("unschedulable"):
                taints.add(store, name, taints.UNSCHEDULABLE, "NoSchedule")
            else:
                taints.remove(store, name, taints.UNSCHEDULABLE)
        if before is not None and after is not None and _alike(before, after):
            return
        for place in list(self.census.unplaced):
            self._schedule(world, store, place)
        for daemon_set in list(store.each("DaemonSet")):
            self._owner(world, replicas, daemon_set)

    def _owner(self, world: World, replicas: Replicas, item: Object) -> None:
        metadata = item["metadata"]
        key = (item["kind"], metadata["namespace"], metadata["name"])
        self.work.soon(world, world.pace.replace, key, partial(replicas.reconcile, *key))
        owner = owner_of(item)
        if owner is not None and owner["kind"] == "Deployment":
            above = ("Deployment", metadata["namespace"], owner["name"])
            wait = world.pace.replace * 1.5
            self.work.soon(world, wait, above, partial(replicas.reconcile, *above))

    def _service(self, world: World, store: Store, item: Object) -> None:
        key = (item["metadata"]["namespace"], item["metadata"]["name"])
        act = partial(endpoints.follow, world, store, *key)
        self.work.soon(world, 0.0, ("slice", *key), act)

    def _budget(self, world: World, store: Store, item: Object) -> None:
        key = (item["metadata"]["namespace"], item["metadata"]["name"])
        act = partial(disruption.observe, world, store, *key)
        self.work.soon(world, 0.0, ("budget", *key), act)


@lingers("Pod")
def stays(world: World, store: Store, item: Object) -> bool:
    """Its kubelet has to end it first, unless it has none or nobody wants to wait."""
    del store
    metadata, kubelets = item["metadata"], world.cluster.kubelets
    if not world.timeline.runs or kubelets is None or metadata["uid"] in kubelets.ended:
        return False
    if metadata.get("deletionGracePeriodSeconds") == 0:
        return False
    return item["spec"].get("nodeName", "") in world.hosts


def _alike(before: Object, after: Object) -> bool:
    """Whether a node is the same for whoever places pods."""
    return bool(
        before["spec"].get("taints") == after["spec"].get("taints")
        and before["spec"].get("unschedulable") == after["spec"].get("unschedulable")
        and before["metadata"].get("labels") == after["metadata"].get("labels")
    )
