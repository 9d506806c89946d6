"""Which pods there are by node and by owner, kept from the changes instead of being counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from lab.objects import Object, Store

    Place: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class Census:
    """Namespace and name of pods.

    Attributes:
        on: by node.
        of: by the UID of the owner that controls them.
        unplaced: pods without a node.
    """

    on: dict[str, set[Place]] = field(default_factory=dict)
    of: dict[str, set[Place]] = field(default_factory=dict)
    unplaced: set[Place] = field(default_factory=set)

    def begin(self, store: Store) -> None:
        """Count everything that is there."""
        for pod in store.each("Pod"):
            self.notice(None, pod)

    def notice(self, before: Object | None, after: Object | None) -> None:
        """Follow the change of one pod."""
        for pod, enters in ((before, False), (after, True)):
            if pod is None:
                continue
            place = (pod["metadata"].get("namespace", ""), pod["metadata"]["name"])
            node, owner = pod.get("spec", {}).get("nodeName"), owner_of(pod)
            groups = [self.on.setdefault(node, set()) if node else self.unplaced]
            if owner is not None:
                groups.append(self.of.setdefault(owner["uid"], set()))
            for group in groups:
                (group.add if enters else group.discard)(place)

    def pods(self, store: Store, places: set[Place]) -> list[Object]:
        """The pods at these places, not to be changed."""
        found = [store.peek("Pod", *place) for place in sorted(places)]
        return [pod for pod in found if pod is not None]

    def free_address(self, store: Store, node: str, cidr: str) -> str:
        """An address of the node's network that none of its pods has."""
        network = IPv4Network(cidr)
        taken = {pod["status"].get("podIP") for pod in self.pods(store, self.on.get(node, set()))}
        # The agent's own ones are below; addresses are not used again at once.
        size = network.num_addresses - 130
        start = store.version % size
        for step in range(size):
            address = str(network[128 + (start + step) % size])
            if address not in taken:
                return address
        raise ValueError(f"no address left in {cidr}")


def owner_of(item: Object) -> Object | None:
    """The reference to the controller that owns the object."""
    references: list[Object] = item["metadata"].get("ownerReferences") or []
    return next((each for each in references if each.get("controller")), None)


def is_ready(pod: Object) -> bool:
    """Whether the pod's condition Ready is True and it is not on its way out."""
    return "deletionTimestamp" not in pod["metadata"] and any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod.get("status", {}).get("conditions", [])
    )


def is_over(pod: Object) -> bool:
    """Whether its containers have ended for good."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
