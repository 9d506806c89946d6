"""What runs in containers: each is a machine of its own, with the files of its image."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab import layout
from lab.cluster.images import Image, image_of
from lab.filesystem import FileSystem
from lab.host import Host
from lab.layout import Machine, Part

if TYPE_CHECKING:
    import asyncio
    from datetime import datetime

    from lab.objects import Object
    from lab.world import World

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What `plays` of an image lists runs by this program of the containers' own.
PLAYED = "in-pod"


@dataclass(slots=True)
class Container:
    """One container.

    Attributes:
        host: the machine that it is for what runs in it.
        log: what its own process has printed, its restarts apart.
        former: the log of the process before a restart.
        node: the name of the node it runs on.
        marks: when what was written from a place in the log on was written.
    """

    host: Host
    node: str
    log: bytearray = field(default_factory=bytearray)
    former: bytearray = field(default_factory=bytearray)
    task: asyncio.Task[int] | None = None
    marks: list[tuple[int, datetime]] = field(default_factory=list)

    def say(self, line: str, at: datetime) -> None:
        """Print a line."""
        self.marks.append((len(self.log), at))
        self.log += f"{line}\n".encode()


@dataclass(slots=True)
class Containers:
    """All containers by the UID of their pod and their own name."""

    _known: dict[tuple[str, str], Container] = field(default_factory=dict)

    def of(self, world: World, pod: Object, name: str) -> Container:
        """The container of that name in the pod."""
        key = (pod["metadata"]["uid"], name)
        address = pod["status"].get("podIP", "")
        known = self._known.get(key)
        if known is None or known.host.machine.address != address:
            log = known.log if known else bytearray()
            node = pod["spec"].get("nodeName", "")
            self._known[key] = known = Container(_machine(world, pod, name), node, log)
        return known

    def end_on(self, host: Host) -> None:
        """End everything that runs in containers of that node."""
        for container in self._known.values():
            if container.node == host.name and container.task is not None:
                container.task.cancel()

    def forget(self, uid: str) -> None:
        """End what runs in the pod; its logs are gone."""
        for key in [key for key in self._known if key[0] == uid]:
            container = self._known.pop(key)
            if container.task is not None:
                container.task.cancel()


def entry(pod: Object, name: str) -> tuple[str, ...]:
    """What the container runs; empty is a server that runs for ever."""
    spec = container_spec(pod, name)
    image = image_of(spec["image"]) or Image()
    command, arguments = spec.get("command") or (), spec.get("args") or ()
    if command:
        return (*command, *arguments)
    return tuple(arguments) or image.argv


def container_spec(pod: Object, name: str) -> Object:
    """The container's part of the pod's spec.

    Raises:
        KeyError: the pod has no such container.
    """
    found: Object | None = next(
        (each for each in pod["spec"]["containers"] if each["name"] == name), None
    )
    if found is None:
        raise KeyError(name)
    return found


def variables(pod: Object) -> dict[str, str]:
    """The environment of what runs in the pod."""
    return {
        "PATH": _PATH,
        "HOSTNAME": pod["metadata"]["name"],
        "HOME": "/root",
        "KUBERNETES_SERVICE_HOST": layout.KUBERNETES,
        "KUBERNETES_SERVICE_PORT": "443",
    }


def _machine(world: World, pod: Object, name: str) -> Host:
    metadata, spec = pod["metadata"], pod["spec"]
    node = world.hosts.get(spec.get("nodeName", ""))
    address = pod["status"].get("podIP", "")
    files = FileSystem()
    image = image_of(container_spec(pod, name)["image"]) or Image()
    for path, program in image.programs.items():
        files.binary(path, program)
    for program in image.plays:
        files.binary(f"/usr/bin/{program}", PLAYED)
    files.folder("/root", 0o700)
    files.folder("/tmp", 0o1777)  # noqa: S108 a path in a container of the lab
    host_name = node.name if node and spec.get("hostNetwork") else metadata["name"]
    files.file("/etc/hostname", f"{host_name}\n".encode())
    files.file("/etc/hosts", f"127.0.0.1\tlocalhost\n{address}\t{host_name}\n".encode())
    files.file("/etc/resolv.conf", _resolv(metadata["namespace"]).encode())
    machine = Machine(
        name=host_name,
        address=address,
        part=Part.WORKER,
        proxmox_node=node.machine.proxmox_node if node else "",
        vm_id=0,
    )
    return Host(
        machine,
        files,
        machine_id="",
        boot_id=node.boot_id if node else "",
        pod=(metadata["namespace"], metadata["name"]),
    )


def _resolv(namespace: str) -> str:
    domain = layout.CLUSTER_DOMAIN
    return (
        f"search {namespace}.svc.{domain} svc.{domain} {domain}\n"
        f"nameserver {layout.DNS}\noptions ndots:5\n"
    )
