"""The flow journal: what the Cilium agents saw pass, and how hubble-relay can be reached."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.objects import Object

# hubble.eventBufferCapacity: an agent forgets what is older than that many events.
CAPACITY = 4095


@dataclass(frozen=True, slots=True)
class Event:
    """One packet that an agent judged.

    Attributes:
        source, destination: the Pods as they were then.
        verdict: `FORWARDED`, `DROPPED`, …
        reason: `POLICY_DENIED`, …, of what was dropped.
    """

    at: datetime
    source: Object
    destination: Object
    verdict: str
    reason: str
    port: int
    protocol: str


@dataclass(slots=True)
class Flows:
    """What passed between pods, as far as something in the lab made it pass.

    What flows all the time, `hubble` works out when it is asked.

    Attributes:
        recorded: the newest events, the newest one last.
        forwards: ports on the bastion that lead to hubble-relay now.
        refused: why no port can be forwarded; empty if it can.
        apart: nodes that the relay cannot connect to.
        frozen: since when no agent counts flows any more; None in health.
        empty: the agents keep no flows.
    """

    recorded: deque[Event] = field(default_factory=lambda: deque(maxlen=CAPACITY))
    forwards: set[int] = field(default_factory=set)
    refused: str = ""
    apart: set[str] = field(default_factory=set)
    frozen: datetime | None = None
    empty: bool = False

    def record(
        self,
        source: Object,
        destination: Object,
        verdict: str,
        reason: str = "",
        *,
        port: int = 80,
        protocol: str = "TCP",
    ) -> None:
        """Let the agents have seen a packet from one Pod to another.

        Args:
            source: the Pod object that sent it.
            destination: the Pod object it was for.
            verdict: what became of it: `FORWARDED` or `DROPPED`.
            reason: why it was dropped: `POLICY_DENIED`.
            port: of the destination.
            protocol: `TCP` or `UDP`.
        """
        if self.frozen is None:
            at = datetime.now(UTC)
            self.recorded.append(Event(at, source, destination, verdict, reason, port, protocol))
