"""What a path of the Kubernetes API names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from lab.objects import RESOURCES

if TYPE_CHECKING:
    from lab.objects import Resource
    from lab.phase import Phase


@dataclass(frozen=True, slots=True)
class Target:
    """An object, a list, or a part of an object.

    Attributes:
        namespace: empty for what has none, and for lists over all of them.
        name: empty for a list.
        part: `log`, `eviction`, `status` and the like; empty for the object itself.
        query: each key's values.
    """

    resource: Resource
    namespace: str = ""
    name: str = ""
    part: str = ""
    query: dict[str, list[str]] = field(default_factory=dict)

    def asked(self, key: str) -> str:
        """The first value of that key, or nothing."""
        return self.query.get(key, [""])[0]


def target(path: str) -> Target | None:
    """What the path with its query names; None if the lab serves nothing there."""
    url = urlsplit(path)
    parts = [unquote(part) for part in url.path.strip("/").split("/")]
    if parts[:2] == ["api", "v1"]:
        group_version, rest = "v1", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group_version, rest = "/".join(parts[1:3]), parts[3:]
    else:
        return None
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    found = next(
        (r for r in RESOURCES if rest and r.plural == rest[0] and r.group_version == group_version),
        None,
    )
    if found is None or len(rest) > 3 or (namespace and not found.namespaced):
        return None
    name, part, *_ = (*rest[1:], "", "")
    return Target(found, namespace, name, part, parse_qs(url.query, keep_blank_values=True))


def served_group(path: str, phase: Phase) -> bool:
    """Whether a cluster of that phase serves anything of the path's group."""
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        return True
    groups = {each.group for each in RESOURCES if each.group and served(each, phase)}
    return parts[0] == "apis" and parts[1:2] != [] and parts[1] in groups


def served(resource: Resource, phase: Phase) -> bool:
    """Whether a cluster of that phase knows the resource."""
    return resource.since is None or phase.reached(resource.since)
