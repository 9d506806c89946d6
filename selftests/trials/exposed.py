"""A cluster with one credential: how etcd keeps it, and what the bastion keeps of its stop."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fixtures.core.requests import HostCommand, KubeChange, Output, Response, Silence
from fixtures.core.statements import Statement
from fixtures.core.verdicts import Undecided
from fixtures.drills.authorization import Authorization
from fixtures.drills.flags import Flags
from fixtures.drills.scene import Scene
from fixtures.judge.cleanup import repository
from fixtures.observe.encryption import ANNOTATION
from fixtures.trials.credential import Cleanup
from selftests.gates.texts import CPS, items, node_object
from selftests.gates.world import AT, wetopi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fixtures.core.requests import Answer, Request
    from fixtures.judge.cleanup import Event

STATUS = {"stage": "start", "activekey": "AES-CBC k", "enable": True, "hashmatch": True}
UID, VERSION = "aaaaaaaa-1111", "12"


class BlockedError(Exception):
    """Stands for the fixture that ends a gate as BLOCKED."""


@dataclass
class Exposed:
    """It answers as the cluster would, and remembers what it was told.

    Attributes:
        there: UID and resourceVersion of the Secret; None if there is none.
        value: what the shell on the control plane prints of its stored value.
        file: what the bastion keeps of the stop.
        unreadable: it cannot be read.
        unwritable: it cannot be written.
        latched: the drills' latch is set.
        green: check (i) is.
        answers: the deletion with this status; None is no answer.
        deletes: and does it.
        instead: what has its name afterwards.
        changes: the Secret is changed between two looks.
    """

    there: tuple[str, str] | None = (UID, VERSION)
    value: str = " 6b 38 73 00 -- -- -- -- -- -- -- -- -- -- -- -- -- --\n181\n"
    file: dict[str, Any] | None = None
    unreadable: bool = False
    unwritable: bool = False
    latched: bool = False
    green: bool = True
    answers: int | None = 200
    deletes: bool = True
    instead: tuple[str, str] | None = None
    changes: bool = False
    names: str | None = None
    states: str | None = None
    signal: str | None = None
    log_breaks: bool = False
    log: list[dict[str, Any]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    sent: list[KubeChange] = field(default_factory=list)

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {each: self._answer(each) for each in requests}

    refresh = ask

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, KubeChange):
            return self._delete(request)
        assert isinstance(request, HostCommand)
        out, err, rc = self._host(request)
        return Output(request, rc, out.encode(), err.encode(), AT, 0.01)

    def _host(self, request: HostCommand) -> tuple[str, str, int]:
        line = request.command
        if "jsonpath" in line:
            return self._version(), "", 0
        if "etcdctl" in line:
            return self.value, "", 0
        if "secrets-encrypt" in line:
            return json.dumps(STATUS | {"enable": self.green}), "", 0
        if "get nodes" in line:
            nodes = [node_object(name) for name in CPS]
            for node in nodes:
                node["metadata"]["annotations"] = {ANNOTATION: "start-1"}
            return items(nodes), "", 0
        return self._bastion(request)

    def _bastion(self, request: HostCommand) -> tuple[str, str, int]:
        line = request.command
        if line.startswith("head "):
            return self._read()
        if "cleanup-stop" in line:
            if self.unwritable:
                return "", "No space left on device", 1
            self.file = json.loads(request.stdin or b"")
        elif line.startswith("ls ") and self.latched:
            return "latch\n", "", 0
        return "", "", 0

    def _read(self) -> tuple[str, str, int]:
        if self.unreadable:
            return "", "head: cannot open 'x' for reading: Permission denied", 1
        if self.file is None:
            return "", "head: cannot open 'x' for reading: No such file or directory", 1
        return json.dumps(self.file), "", 0

    def _version(self) -> str:
        if self.there is None:
            return ""
        uid, version = self.there
        if self.changes:
            self.there = uid, str(int(version) + 1)
        return f"{uid} {version} 2026-11-30T10:00:00Z"

    def _delete(self, request: KubeChange) -> Answer:
        self.sent.append(request)
        assert request.method == "DELETE"
        assert request.secret
        wanted = json.loads(request.body or "")["preconditions"]
        if self.there and wanted != {"uid": self.there[0], "resourceVersion": self.there[1]}:
            return Response(request, 409, b'{"message":"modified"}', AT, 0.01)
        if self.deletes:
            self.there = self.instead
        if self.answers is None:
            return Silence(request, "the link was lost", AT, 1.0)
        return Response(request, self.answers, b'{"message":"no"}', AT, 0.01)

    @contextmanager
    def authorized(self) -> Iterator[Scene | None]:
        if self.names is None:
            yield None
            return
        if self.latched:
            raise Undecided("the latch is set")
        yield self.scene(self.names)

    def scene(self, name: str) -> Scene:
        given = Authorization(name, frozenset({"G.4"}), datetime.now(UTC), 2700.0, "id", "op")
        return Scene(
            cluster=wetopi(),
            run="me",
            gate="G.4",
            asker=self,
            forget=lambda: None,
            flags=Flags(wetopi(), self, {"run": "me"}),
            authorization=given,
            log=self.step,
            pending=lambda: self.signal,
            say=self.told.append,
            deviate=self.told.append,
            note=self.told.append,
        )

    def step(self, what: str, /, **fields: Any) -> bool:
        if not self.log_breaks:
            self.log.append({"step": what, **fields})
        return not self.log_breaks

    def event(self, state: Event, **fields: Any) -> bool:
        return self.step("CLEANUP STOP", state=state, **fields)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [each for each in self.log if each["step"] == "CLEANUP STOP"]

    @property
    def titles(self) -> list[str]:
        return [f"{each['step']}: {each.get('state')}" for each in self.log]

    def stated(self) -> Statement:
        if self.states is None:
            raise Undecided("nobody")
        return Statement("G.4", self.states, "Ana", "2026-11-30T12:00:00Z")

    def cleanup(self) -> Cleanup:
        def blocked(why: str) -> None:
            raise BlockedError(why)

        return Cleanup(
            cluster=wetopi(),
            asker=self,
            run="me",
            events=lambda: self.events,
            log=self.event,
            authorized=self.authorized,
            stated=self.stated,
            record=self.facts.__setitem__,
            blocked=blocked,
            tell=self.told.append,
        )

    def gate(self) -> str:
        """What a run of the gate comes to: `PASS`, or `FAIL …`, `UNKNOWN …`, `BLOCKED …`."""
        try:
            findings = self.cleanup().kept(repository(wetopi()))
        except Undecided as undecided:
            return f"UNKNOWN {undecided}"
        except BlockedError as blocked:
            return f"BLOCKED {blocked}"
        return f"FAIL {'; '.join(findings)}" if findings else "PASS"


ENCRYPTED = " 6b 38 73 3a 65 6e 63 3a 61 65 73 63 62 63 3a 76 31 3a\n667\n"
