"""A Kubernetes API that does what trials ask of it, and what goes wrong with it on request."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from fixtures.core.requests import (
    Executed,
    HostCommand,
    KubeChange,
    KubeExec,
    KubeGet,
    Output,
    Response,
    Silence,
    line_of,
)
from fixtures.core.waits import eventually
from fixtures.trials.trial import Trial
from selftests.gates.world import AT, wetopi

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Answer, Request

RUN = "20261130T120000Z-3fa2bc"

Ran = tuple[int, str, str]


def running(pod: dict[str, Any]) -> dict[str, Any]:
    """A pod that its kubelet runs."""
    spec = pod["spec"] | {"nodeName": pod["spec"].get("nodeName", "rke-platform01")}
    state = {"name": "trial", "ready": True, "state": {"running": {}}}
    return pod | {
        "spec": spec,
        "status": {
            "phase": "Running",
            "startTime": "x",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [state],
        },
    }


@dataclass
class Api:
    """Objects by path. Every look lets a second pass.

    Attributes:
        becomes: what the cluster makes of a pod that was posted, at each look.
        refuses: parts of a request's line to the HTTP status that answers it.
        loses: parts of a request's line; what was ordered is done, and not answered.
        silent: parts of a request's line; nothing is done, and not answered.
        lingers: looks for which a namespace is Terminating; None is for ever.
        runs: what a program in a pod does.
        says: what a command on the bastion prints.
        warns: messages of warnings on every pod.
        events: the same with their reasons.
    """

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    becomes: Callable[[dict[str, Any]], dict[str, Any]] = running
    refuses: dict[str, int] = field(default_factory=dict)
    loses: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    lingers: int | None = 1
    runs: Callable[[tuple[str, ...]], Ran] = lambda _: (0, "", "")
    says: Callable[[str], str] = lambda _: ""
    warns: tuple[str, ...] = ()
    events: list[tuple[str, str]] = field(default_factory=list)
    sent: list[Request] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    log_breaks: bool = False
    forgotten: int = 0
    now: float = 0.0
    cluster: Cluster = field(default_factory=wetopi)
    _serial: int = 0

    @property
    def lines(self) -> list[str]:
        """What the API was sent, in order."""
        return [line_of(each) for each in self.sent if not isinstance(each, HostCommand)]

    def trial(self, gate: str = "D2.dns") -> Trial:
        """The trial of a gate on this cluster."""

        def log(what: str, /, **fields: Any) -> bool:
            if not self.log_breaks:
                self.log.append({"step": what, **fields})
            return not self.log_breaks

        def forget() -> None:
            self.forgotten += 1

        return Trial(self.cluster, self, RUN, gate, forget, log, self.wait)

    @property
    def wait(self) -> Any:
        """`eventually`, whose pauses take no time."""

        def sleep(seconds: float) -> None:
            self.now += seconds

        return partial(eventually, clock=lambda: self.now, sleep=sleep)

    def states(self, title: str) -> list[str]:
        """The states that the log has of a step."""
        return [each["state"] for each in self.log if each["step"] == title]

    def namespace(self, name: str, **labels: str) -> dict[str, Any]:
        """Put a namespace there, as somebody else would."""
        body = {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        return self._put("/api/v1/namespaces", body)

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return self.refresh(requests)

    def refresh(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {request: self._answer(request) for request in requests}

    def _answer(self, request: Request) -> Answer:
        self.sent.append(request)
        if isinstance(request, HostCommand):
            return Output(request, 0, self.says(request.command).encode(), b"", AT, 0.1)
        assert isinstance(request, KubeGet | KubeChange | KubeExec)
        line = line_of(request)
        if any(part in line for part in self.silent):
            return Silence(request, f"{line}: no answer within 20 s", AT, 20.0)
        status = next((code for part, code in self.refuses.items() if part in line), 0)
        if status:
            refusal = {"kind": "Status", "message": "not today", "code": status}
            return Response(request, status, json.dumps(refusal).encode(), AT, 0.1)
        answer = self._done(request)
        if any(part in line for part in self.loses):
            return Silence(request, f"{line}: no answer within 20 s", AT, 20.0)
        return answer

    def _done(self, request: KubeGet | KubeChange | KubeExec) -> Answer:
        if isinstance(request, KubeExec):
            rc, stdout, stderr = self.runs(request.argv)
            return Executed(request, rc, stdout.encode(), stderr.encode(), AT, 0.1)
        if isinstance(request, KubeGet):
            status, body = self._got(request.path)
        elif request.method == "POST":
            status, body = 201, self._put(request.path, json.loads(request.body or ""))
        else:
            status, body = self._delete(request)
        return Response(request, status, json.dumps(body).encode(), AT, 0.1)

    def _put(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self._serial += 1
        name = body["metadata"]["name"]
        metadata = body["metadata"] | {
            "uid": f"uid-{self._serial}",
            "creationTimestamp": "2026-11-30T12:00:00Z",
        }
        place = path.partition("/namespaces/")[2].partition("/")[0]
        if place:
            metadata["namespace"] = place
        else:
            account = f"{path}/{name}/serviceaccounts/default"
            self.objects[account] = {"metadata": {"name": "default", "uid": "uid-account"}}
        self.objects[f"{path}/{name}"] = body | {"metadata": metadata}
        return self.objects[f"{path}/{name}"]

    def _got(self, target: str) -> tuple[int, dict[str, Any]]:
        path = target.partition("?")[0]
        self._age(path)
        if path.endswith("/events"):
            events = [*(("Failed", each) for each in self.warns), *self.events]
            items = [{"type": "Warning", "reason": r, "message": m} for r, m in events]
            return 200, {"kind": "EventList", "items": items}
        if path == "/api/v1/namespaces":
            found = [o for p, o in self.objects.items() if p.rpartition("/")[0] == path]
            return 200, {"kind": "NamespaceList", "items": found}
        item = self.objects.get(path)
        name = path.rpartition("/")[2]
        if item is None:
            details = {"name": name, "kind": "x"}
            return 404, {"reason": "NotFound", "message": "not found", "details": details}
        return 200, self.becomes(item) if item.get("kind") == "Pod" else item

    def _delete(self, request: KubeChange) -> tuple[int, dict[str, Any]]:
        item = self.objects.get(request.path)
        if item is None:
            return 404, {"reason": "NotFound", "message": "not found"}
        wanted = json.loads(request.body or "")["preconditions"]["uid"]
        if item["metadata"]["uid"] != wanted:
            return 409, {"reason": "Conflict", "message": "another one"}
        item["metadata"]["deletionTimestamp"] = "x"
        return 200, item

    def _age(self, path: str) -> None:
        """A namespace that goes is gone after some looks at it, and all in it."""
        item = self.objects.get(path, {})
        if "deletionTimestamp" not in item.get("metadata", {}) or self.lingers is None:
            return
        looks = item.setdefault("looks", 0)
        item["looks"] += 1
        if looks >= self.lingers:
            inside = f"/namespaces/{path.rpartition('/')[2]}/"
            gone = [each for each in self.objects if each == path or inside in each]
            for each in gone:
                del self.objects[each]
