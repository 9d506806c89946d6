"""A world that also answers connection attempts and remembers nothing healthy: for drills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fixtures.core.requests import Opened, Refusal, Silence, TcpProbe
from selftests.gates.world import AT, World, wetopi

if TYPE_CHECKING:
    from fixtures.core.inventory import Node
    from fixtures.core.requests import Answer, Request

SILENT = "silent"


@dataclass
class Drilled(World):
    """`doors`: (address, port) to `open`, `silent`, or the bastion's reason for the refusal."""

    doors: dict[tuple[str, int], str] = field(default_factory=dict)

    def _answer(self, request: Request) -> Answer:
        if not isinstance(request, TcpProbe):
            return super()._answer(request)
        self.sent.append(request)
        door = self.doors[request.address, request.port]
        if door == "open":
            return Opened(request, AT, 0.01)
        if door == SILENT:
            return Silence(request, f"no answer from {request.address}:{request.port}", AT, 1.0)
        return Refusal(request, door, AT, 0.01)


def drilled() -> Drilled:
    return Drilled(wetopi())


def node(name: str = "rke-cp02") -> Node:
    return wetopi().node(name)
