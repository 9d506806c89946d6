"""What is wrong with single requests to the lab's Kubernetes API, whatever the model says."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.statuses import failure

if TYPE_CHECKING:
    import re

    from lab.apipaths import Target
    from lab.pki import Client
    from lab.statuses import Answer


@dataclass(slots=True)
class ApiRule:
    """What becomes of requests that match.

    Attributes:
        request: searched in `GET /api/v1/nodes?limit=500`, as it came.
        after: seconds before the answer; infinity hangs.
        answer: what is answered instead; None is what the model says.
        forbids: 403.
        drip: seconds between two bytes of the body; 0 sends it at once.
        cuts: the connection ends in the middle of the body, or before a program's status.
        compacts: lists that are being read page by page cannot be gone on with.
        times: how often it still happens; None is always.
    """

    request: re.Pattern[str]
    after: float = 0.0
    answer: Answer | None = None
    forbids: bool = False
    drip: float = 0.0
    cuts: bool = False
    compacts: bool = False
    times: int | None = None

    def applies(self, line: str) -> bool:
        """Whether it holds for this request; that is counted."""
        if self.times == 0 or not self.request.search(line):
            return False
        if self.times is not None:
            self.times -= 1
        return True

    async def wait(self) -> None:
        """Wait as long as it wants."""
        if math.isinf(self.after):
            await asyncio.get_running_loop().create_future()
        elif self.after:
            await asyncio.sleep(self.after)


def forbidden(target: Target, method: str, client: Client) -> Answer:
    """What RBAC answers."""
    resource = target.resource
    part = f"/{target.part}" if target.part else ""
    verb = {"GET": "get", "POST": "create", "PATCH": "patch", "DELETE": "delete"}[method]
    if not target.name and method in ("GET", "DELETE"):
        verb = "list" if method == "GET" else "deletecollection"
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    name = f' "{target.name}"' if target.name else ""
    return failure(
        403,
        "Forbidden",
        f'{resource.qualified}{name} is forbidden: User "{client.user}" cannot {verb} resource '
        f'"{resource.plural}{part}" in API group "{resource.group}" {where}',
        {"kind": resource.plural} | ({"name": target.name} if target.name else {}),
    )
