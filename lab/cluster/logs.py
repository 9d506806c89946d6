"""The logs of containers, as the API gives them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.admission import part
from lab.kinds import precise
from lab.statuses import Answer, bad_request, failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from lab.apipaths import Target
    from lab.cluster.containers import Container
    from lab.objects import Object, Store
    from lab.world import World


@part("Pod", "log", "GET")
def log(world: World, store: Store, item: Object, target: Target, body: Object) -> Answer:
    """What a container has printed: `container`, `previous`, `tailLines`."""
    del store, body
    name = item["metadata"]["name"]
    names = [each["name"] for each in item["spec"]["containers"]]
    container = target.asked("container")
    if not container and len(names) > 1:
        return bad_request(
            f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
        )
    container = container or names[0]
    if container not in names:
        return bad_request(f"container {container} is not valid for pod {name}")
    status = next(
        (each for each in item["status"].get("containerStatuses", []) if each["name"] == container),
        None,
    )
    host = world.hosts.get(item["spec"].get("nodeName", ""))
    waiting = status["state"].get("waiting") if status else {"reason": "PodInitializing"}
    previous = target.asked("previous") == "true"
    if host is None or (waiting and not previous and not (status or {}).get("restartCount")):
        reason = (waiting or {}).get("reason", "ContainerCreating")
        return bad_request(f'container "{container}" in pod "{name}" is waiting to start: {reason}')
    if not host.posts:
        text = (
            f'Get "https://{host.machine.address}:10250/containerLogs/'
            f'{item["metadata"]["namespace"]}/{name}/{container}": proxy error from '
            f"127.0.0.1:9345 while dialing {host.machine.address}:10250, code 502: 502 Bad Gateway"
        )
        return failure(500, "", text)
    known = world.containers.of(world, item, container)
    lines = bytes(known.former if previous else known.log).splitlines(keepends=True)
    since, stamped = target.asked("sinceTime"), target.asked("timestamps") == "true"
    if since or stamped:
        rows = _dated(known, lines, world.now())
        lines = [f"{at} ".encode() * stamped + line for at, line in rows if at >= since]
    tail = target.asked("tailLines")
    if tail.isdigit():
        lines = lines[-int(tail) :] if int(tail) else []
    return Answer(200, b"".join(lines).decode(errors="replace"), "text/plain")


def _dated(container: Container, lines: list[bytes], now: datetime) -> Iterator[tuple[str, bytes]]:
    """Each line, and when it was written; of what nobody dated, that is now."""
    place = 0
    for line in lines:
        at = [moment for begin, moment in container.marks if begin <= place]
        yield precise(at[-1] if at else now), line
        place += len(line)
