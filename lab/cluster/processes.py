"""A container's own process: what its image runs by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.shell import Shell
from lab.streams import Journal
from lab.tools.pods import NotStartedError, run_in_pod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.objects import Object
    from lab.streams import Streams
    from lab.world import World

_NOT_STARTED = 128


async def process(
    world: World, pod: Object, name: str, argv: Sequence[str], streams: Streams
) -> int:
    """Run it on the pod's node; its exit status."""
    node = world.hosts[pod["spec"]["nodeName"]]
    shell = Shell(world, node, "root", {}, Journal())
    try:
        rc = await run_in_pod(shell, streams, pod, name, list(argv))
    except NotStartedError as error:
        streams.out += f"{error}\n".encode()
        rc = _NOT_STARTED
    if shell.journal.mysteries and world.log is not None:
        line = f"container {pod['metadata']['name']}: {' '.join(argv)}"
        world.log.write(node.name, line, rc, shell.journal.mysteries)
    return rc
