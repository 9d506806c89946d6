"""kubectl drain: cordon, evict, wait until the pods are gone (captures: kube-1.36.3.out)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab import apiserver
from lab.cluster.census import is_over, owner_of
from lab.pods import MIRROR
from lab.tools.durations import given, shown
from lab.tools.kubectl_nodes import cordon, node_of

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.statuses import Answer
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

_LOOK = 0.02
_DAEMONS = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
_SCRATCH = "Pods with local storage (use --delete-emptydir-data to override)"
_BARE = "Pods that declare no controller (use --force to override)"
_IGNORING = "ignoring DaemonSet-managed Pods"
_DELETING = "deleting Pods that declare no controller"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What becomes of the node's pods; refusals and warnings name pods by their reason."""

    evicted: list[Object]
    refused: dict[str, list[str]]
    warned: dict[str, list[str]]


async def drain(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`drain NODE [--ignore-daemonsets] [--delete-emptydir-data] [--force] [--timeout=…]`."""
    rc = cordon(call, api, options, words)
    if rc or not words:
        return rc
    name = words[0].removeprefix("node/")
    plan = _planned(call, api, name, options)
    if plan.refused:
        return _fail(
            call,
            name,
            [f"cannot delete {why}: {', '.join(who)}" for why, who in sorted(plan.refused.items())],
        )
    if plan.warned:
        told = "; ".join(f"{why}: {', '.join(who)}" for why, who in sorted(plan.warned.items()))
        call.complain(f"Warning: {told}")
    limit = given(options.get("--timeout") or "0s")
    grace = int(options.get("--grace-period") or -1)
    evictions = [_Eviction(call, api, pod, limit, grace) for pod in plan.evicted]
    if evictions and limit:
        ends = await asyncio.gather(*(each.within() for each in evictions))
    else:
        ends = await asyncio.gather(*(each.run() for each in evictions))
    errors = [end for end in ends if end]
    if errors:
        listed = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        call.complain(f'There are pending pods in node "{name}" when an error occurred: {listed}')
        for each, end in zip(evictions, ends, strict=True):
            if end:
                call.complain(f"pod/{each.name}")
        return _fail(call, name, errors)
    call.say(f"node/{name} drained")
    return 0


def _fail(call: Call, name: str, errors: list[str]) -> int:
    listed = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
    call.complain(
        f'error: unable to drain node "{name}" due to error: {listed}, continuing command...'
    )
    call.complain("There are pending nodes to be drained:")
    call.complain(f" {name}")
    for error in errors:
        call.complain(error)
    return 1


def _planned(call: Call, api: Api, name: str, options: Options) -> _Plan:
    plan = _Plan([], {}, {})
    node = node_of(call, api, name)
    assert node is not None
    for pod in call.world.objects_of(api.host).select("Pod", on=name):
        metadata = pod["metadata"]
        place = f"{metadata['namespace']}/{metadata['name']}"
        owner, over = owner_of(pod), is_over(pod)
        if MIRROR in metadata.get("annotations", {}):
            continue
        if owner is not None and owner["kind"] == "DaemonSet" and not over:
            if "--ignore-daemonsets" in options:
                plan.warned.setdefault(_IGNORING, []).append(place)
            else:
                plan.refused.setdefault(_DAEMONS, []).append(place)
        elif not over and _has_scratch(pod) and "--delete-emptydir-data" not in options:
            plan.refused.setdefault(_SCRATCH, []).append(place)
        elif not over and owner is None and "--force" not in options:
            plan.refused.setdefault(_BARE, []).append(place)
        else:
            if owner is None and not over:
                plan.warned.setdefault(_DELETING, []).append(place)
            plan.evicted.append(pod)
    return plan


def _has_scratch(pod: Object) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes") or [])


@dataclass(frozen=True, slots=True)
class _Eviction:
    """One pod on its way out."""

    call: Call
    api: Api
    pod: Object
    limit: float
    grace: int

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.pod["metadata"]["name"])

    @property
    def _namespace(self) -> str:
        return str(self.pod["metadata"]["namespace"])

    async def within(self) -> str:
        """The same with a limit."""
        stage = ["evicting"]
        try:
            async with asyncio.timeout(self.limit):
                return await self.run(stage)
        except TimeoutError:
            if stage[-1] == "evicting":
                what = f'error when evicting pods/"{self.name}" -n "{self._namespace}"'
            else:
                what = (
                    f'error when waiting for pod "{self.name}" in namespace "{self._namespace}" '
                    "to terminate"
                )
            return f"{what}: global timeout reached: {shown(self.limit)}"

    async def run(self, stage: list[str] | None = None) -> str:
        """Evict and wait; an error, or nothing when the pod is gone."""
        while True:
            self.call.say(f"evicting pod {self._namespace}/{self.name}")
            answer = self._evict()
            if answer.status == 404:
                return ""
            if answer.status < 400:
                break
            what = f'error when evicting pods/"{self.name}" -n "{self._namespace}"'
            message = answer.document["message"]
            if answer.status != 429:
                return f"{what}: {message}"
            self.call.complain(f"{what} (will retry after 5s): {message}")
            await self.call.world.timeline.pause(self.call.world.pace.evict)
        if stage is not None:
            stage.append("waiting")
        await self._gone()
        self.call.say(f"pod/{self.name} evicted")
        return ""

    def _evict(self) -> Answer:
        path = f"/api/v1/namespaces/{self._namespace}/pods/{self.name}/eviction"
        options = {"gracePeriodSeconds": self.grace} if self.grace >= 0 else {}
        body: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": self.name, "namespace": self._namespace},
            "deleteOptions": options,
        }
        return apiserver.answer(
            self.call.world,
            self.api.host,
            "POST",
            path,
            self.api.client,
            body=json.dumps(body).encode(),
        )

    async def _gone(self) -> None:
        uid = self.pod["metadata"]["uid"]
        store = self.call.world.objects_of(self.api.host)
        while True:
            found = store.peek("Pod", self._namespace, self.name)
            if found is None or found["metadata"]["uid"] != uid:
                return
            await asyncio.sleep(_LOOK)
