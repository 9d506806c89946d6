"""The API of a living world, asked as a client does; no TLS in between."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab import apiserver
from lab.cluster import conditions
from lab.pki import client_of

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.statuses import Answer
    from selftests.lab.living import Living

POD = "/api/v1/namespaces/default/pods"


@dataclass
class Api:
    """Requests to the first control plane."""

    lab: Living

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """One request."""
        world = self.lab.world
        client = client_of(world.pki.admin().certificate)
        data = json.dumps(body or {}).encode()
        answer = apiserver.answer(world, world.first_control_plane, method, path, client, body=data)
        assert answer.known, f"{method} {path}"
        return answer

    def make(self, path: str, body: object) -> Object:
        """Create an object that must not be refused."""
        answer = self.ask("POST", path, body)
        assert answer.status == 201, answer.body
        made: Object = answer.document
        return made

    def pod(self, name: str, *argv: str, labels: Object | None = None, **spec: Any) -> Object:
        """Create a pod of busybox."""
        container: Object = {"name": "main", "image": spec.pop("image", "busybox:1.36")}
        if argv:
            container["command"] = list(argv)
        body = {
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"restartPolicy": "Never", "containers": [container], **spec},
        }
        return self.make(POD, body)

    def now(self, name: str, namespace: str = "default") -> Object:
        """The pod as it is."""
        found = self.lab.world.objects.get("Pod", namespace, name)
        assert found is not None, name
        return found

    async def phase(self, name: str, *phases: str) -> Object:
        """The pod, once it is in one of these phases."""
        await self.lab.until(lambda: self.now(name)["status"]["phase"] in phases)
        return self.now(name)

    async def gone(self, kind: str, namespace: str, name: str) -> None:
        """Wait for an object to be gone."""
        store = self.lab.world.objects
        await self.lab.until(lambda: store.peek(kind, namespace, name) is None)

    async def ready(self, node: str, status: str) -> None:
        """Wait for a node's Ready condition."""
        store = self.lab.world.objects
        await self.lab.until(
            lambda: conditions.of(store.peek("Node", "", node) or {}, "Ready") == status
        )

    def told(self, reason: str) -> list[str]:
        """What the events of that reason say."""
        events = self.lab.world.objects.select("Event")
        return [each["message"] for each in events if each["reason"] == reason]


def condition(item: Object, kind: str) -> Object:
    """The item's condition."""
    found: Object = next(each for each in item["status"]["conditions"] if each["type"] == kind)
    return found
