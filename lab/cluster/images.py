"""The container images that the lab has: what is in them, and what they run by themselves.

A program that only containers have is an async function `name(call, pod)` of a family file of
`lab/tools/`, listed in `plays`. A container whose image is not listed has nothing the lab knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_SHELL = {"/bin/sh": "dash"}
_COMMON = {
    f"/bin/{name}": name
    for name in (
        "cat",
        "date",
        "echo",
        "env",
        "false",
        "grep",
        "head",
        "hostname",
        "id",
        "ls",
        "printf",
        "sleep",
        "sync",
        "tail",
        "test",
        "true",
        "wc",
    )
}


@dataclass(frozen=True, slots=True)
class Image:
    """What is in an image.

    Attributes:
        programs: path to the program of the lab's hosts that plays it as well.
        plays: name of a program, and the function that plays it: `family.function`.
        argv: what it runs when the pod names nothing; nothing is a server that runs for ever.
        serves: TCP ports that this server listens on, and what it answers to a GET.
    """

    programs: dict[str, str] = field(default_factory=dict)
    plays: dict[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    serves: dict[int, bytes] = field(default_factory=dict)


_WELCOME = b"<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>\n</head>\n</html>\n"
# By the last part of the repository, so that a mirror's image is the same one.
IMAGES = {
    "alpine-curl": Image({**_SHELL, **_COMMON}),
    "busybox": Image(
        {**_SHELL, **_COMMON},
        plays={"nslookup": "nslookup.busybox", "wget": "wget.busybox"},
        argv=("sh",),
    ),
    "cilium": Image(plays={"cilium-health": "cilium_health.in_pod"}),
    "json-mock": Image({**_SHELL, **_COMMON}),
    "jessie-dnsutils": Image(
        {**_SHELL, **_COMMON}, plays={"nslookup": "nslookup.bind"}, argv=("sh",)
    ),
    "nginx": Image({**_SHELL, **_COMMON}, serves={80: _WELCOME}),
    # The etcd image has etcd and etcdctl and no shell, env or ls (handbook 3.2).
    "hardened-etcd": Image(plays={"etcdctl": "etcdctl.in_pod"}),
    "pause": Image(),
}


def image_of(reference: str) -> Image | None:
    """The image of that reference; None if the lab has none of that name."""
    name = reference.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return IMAGES.get(name)
