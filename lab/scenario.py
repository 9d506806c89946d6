"""Scenario files: what the lab replays, and which verdicts are right then (design, section 2.6)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lab.faults import FAULTS, FaultError
from lab.marked import Marked, ScenarioError, read
from lab.objects import RESOURCES
from lab.phase import Phase
from lab.replies import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from lab.objects import Object
    from lab.world import World

VERDICTS = ("PASS", "FAIL", "UNKNOWN", "BLOCKED", "UNAUTHORIZED", "DEFERRED", "ATTESTED")
_KEYS = ("name", "expect", "phase", "faults", "replies", "objects", "files")
_REPLY_KEYS = ("host", "pod", "command", "stdout", "stderr", "rc", "times", "after")
_OBJECT_KEYS = ("kind", "namespace", "name", "labels", "on", "merge", "delete")
_FILE_KEYS = ("path", "mode", "content", "delete", "git")
GIT_STATES = ("behind", "unfilled", "unreviewed", "unfetched")
_KINDS = {resource.kind: resource for resource in RESOURCES}


@dataclass(frozen=True, slots=True)
class FaultUse:
    """A fault as a scenario asks for it."""

    name: str
    parameters: object
    at: Marked

    def apply(self, world: World) -> None:
        """Change the world.

        Raises:
            ScenarioError: a parameter is wrong.
        """
        try:
            FAULTS[self.name].apply(world, self.parameters)
        except FaultError as error:
            raise self.at.error(str(error)) from None


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """A merge patch or a deletion of the objects it selects."""

    kind: str
    namespace: str
    name: str | None
    labels: dict[str, str]
    on: str | None
    merge: Object | None
    at: Marked

    def apply(self, world: World) -> None:
        """Change the objects; nothing selected is no mistake before the phase that makes them.

        A named object that is not there is created by its merge patch, but for nodes: those come
        by registering.
        """
        store = world.objects
        if not world.etcd:
            return
        namespaced = _KINDS[self.kind].namespaced
        if self.name is not None:
            names = [(self.namespace, self.name)]
        else:
            found = store.select(self.kind, self.namespace or None, self.labels, self.on)
            names = [
                (item["metadata"].get("namespace", ""), item["metadata"]["name"]) for item in found
            ]
        for namespace, name in names:
            if self.merge is None:
                store.delete(self.kind, namespace, name)
                continue
            if store.get(self.kind, namespace, name) is None:
                if self.kind == "Node":
                    continue
                metadata = {"name": name} | ({"namespace": namespace} if namespaced else {})
                store.put(
                    {
                        "apiVersion": _KINDS[self.kind].group_version,
                        "kind": self.kind,
                        "metadata": metadata | {"uid": world.seed.uuid(self.kind, namespace, name)},
                    }
                )
            store.merge(self.kind, namespace, name, self.merge)


@dataclass(frozen=True, slots=True)
class ControllerFile:
    """A file on the controller's side, or the state of a checkout there (`git`)."""

    path: str
    mode: int | None
    content: str | None
    delete: bool
    git: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario file.

    Attributes:
        expect: gate key (`B.3`, `C.3[rke-cp01]`) to verdict; a per-node gate without a node
            speaks for every node that is not listed itself.
        phase: how far the lab cluster is applied; beats the selection of gates.
    """

    path: Path
    name: str
    expect: dict[str, str]
    phase: Phase | None
    faults: tuple[FaultUse, ...]
    replies: tuple[Reply, ...]
    objects: tuple[ObjectChange, ...]
    files: tuple[ControllerFile, ...]

    @property
    def fault_names(self) -> tuple[str, ...]:
        """The faults in the file's order."""
        return tuple(use.name for use in self.faults)

    def change(self, world: World) -> None:
        """Apply faults, then objects, then wire-level replies, which come first when asked.

        Raises:
            ScenarioError: a fault's parameter does not fit the world.
        """
        for use in self.faults:
            use.apply(world)
        for change in self.objects:
            change.apply(world)
        world.replies[:0] = self.replies


def load(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        ScenarioError: the first mistake, with file and line.
    """
    document = read(path)
    fields = document.mapping(_KEYS)
    if "name" not in fields:
        raise document.error("`name` is missing")
    return Scenario(
        path=path,
        name=fields["name"].text(),
        expect=_expect(fields["expect"]) if "expect" in fields else {},
        phase=_phase(fields["phase"]) if "phase" in fields else None,
        faults=tuple(_fault(entry) for entry in _list(fields, "faults")),
        replies=tuple(_reply(entry) for entry in _list(fields, "replies")),
        objects=tuple(_object(entry) for entry in _list(fields, "objects")),
        files=tuple(_file(entry) for entry in _list(fields, "files")),
    )


def _list(fields: dict[str, Marked], key: str) -> list[Marked]:
    return list(fields[key].items()) if key in fields else []


def _expect(marked: Marked) -> dict[str, str]:
    expect: dict[str, str] = {}
    for gate, verdict in marked.mapping().items():
        if not re.fullmatch(r"(P\d|[A-Z0-9]+[.-][\w.-]+)(\[[\w-]+\])?", gate):
            raise verdict.error(f"`{gate}` is not a gate such as C.1 or C.3[rke-cp01]")
        value = verdict.text()
        if value not in VERDICTS:
            raise verdict.error(f"`{value}` is no verdict; one of {', '.join(VERDICTS)}")
        expect[gate] = value
    return expect


def _phase(marked: Marked) -> Phase:
    try:
        return Phase.named(str(marked.plain()))
    except ValueError as error:
        raise marked.error(str(error)) from None


def _fault(marked: Marked) -> FaultUse:
    value = marked.plain()
    if isinstance(value, str):
        name, parameters = value, None
    else:
        entries = marked.mapping()
        if len(entries) != 1:
            raise marked.error("a fault is `name` or `name: parameters`, one an entry")
        name, inner = next(iter(entries.items()))
        parameters = inner.plain()
    if name not in FAULTS:
        raise marked.error(f"no fault `{name}`; see `python -m lab faults`")
    return FaultUse(name, parameters, marked)


def _reply(marked: Marked) -> Reply:
    fields = marked.mapping(_REPLY_KEYS)
    if ("host" in fields) == ("pod" in fields):
        raise marked.error("a reply has either `host` or `pod`")
    if "command" not in fields:
        raise marked.error("`command` is missing")
    try:
        pattern = re.compile(fields["command"].text())
    except re.error as error:
        raise fields["command"].error(f"not a regular expression: {error}") from None

    def text(key: str) -> bytes:
        return fields[key].text().encode() if key in fields else b""

    return Reply(
        command=pattern,
        host=fields["host"].text() if "host" in fields else None,
        pod=fields["pod"].text() if "pod" in fields else None,
        stdout=text("stdout"),
        stderr=text("stderr"),
        rc=fields["rc"].integer() if "rc" in fields else 0,
        times=fields["times"].integer() if "times" in fields else None,
        after=_after(fields["after"]) if "after" in fields else 0.0,
    )


def _after(marked: Marked) -> float:
    value = marked.plain()
    if value == "never":
        return math.inf
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|)", str(value))
    if not match:
        raise marked.error(f"`{value}` is not a time such as 2s, 500ms or never")
    return float(match.group(1)) * (0.001 if match.group(2) == "ms" else 1.0)


def _object(marked: Marked) -> ObjectChange:
    fields = marked.mapping(_OBJECT_KEYS)
    kind = fields["kind"].text() if "kind" in fields else ""
    if kind not in _KINDS:
        raise marked.error(f"`kind` must be one of {', '.join(sorted(_KINDS))}")
    if ("merge" in fields) == ("delete" in fields):
        raise marked.error("an object has either `merge` or `delete: true`")
    if "delete" in fields and fields["delete"].plain() is not True:
        raise fields["delete"].error("must be true")
    if not {"name", "labels", "on"} & set(fields):
        raise marked.error("which object: `name`, `labels` or `on` is missing")
    merge = fields["merge"].plain() if "merge" in fields else None
    if merge is not None and not isinstance(merge, dict):
        raise fields["merge"].error("must be a mapping")
    labels = fields["labels"].mapping() if "labels" in fields else {}
    return ObjectChange(
        kind=kind,
        namespace=fields["namespace"].text() if "namespace" in fields else "",
        name=fields["name"].text() if "name" in fields else None,
        labels={key: str(value.plain()) for key, value in labels.items()},
        on=fields["on"].text() if "on" in fields else None,
        merge=merge,
        at=marked,
    )


def _file(marked: Marked) -> ControllerFile:
    fields = marked.mapping(_FILE_KEYS)
    if "path" not in fields:
        raise marked.error("`path` is missing")
    parts = PurePosixPath(fields["path"].text()).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise fields["path"].error("must lead into the lab's own folder: relative, without `..`")
    mode = None
    if "mode" in fields:
        text = str(fields["mode"].plain())
        if not re.fullmatch(r"0?[0-7]{3,4}", text):
            raise fields["mode"].error(f'`{text}` is not an octal mode such as "0644"')
        mode = int(text, 8)
    return ControllerFile(
        path=fields["path"].text(),
        mode=mode,
        content=fields["content"].text() if "content" in fields else None,
        delete="delete" in fields and fields["delete"].plain() is True,
        git=_git(fields["git"]) if "git" in fields else "",
    )


def _git(marked: Marked) -> str:
    if (text := marked.text()) not in GIT_STATES:
        raise marked.error(f"`{text}` is none of {', '.join(GIT_STATES)}")
    return text


__all__ = ["Scenario", "ScenarioError", "load"]
