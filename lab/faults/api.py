"""Faults of the Kubernetes API as clients meet it, and of the kubeconfig they meet it with."""

from __future__ import annotations

import math
import re
from base64 import b64encode
from typing import TYPE_CHECKING

from lab import layout
from lab.apirules import ApiRule
from lab.faults.registry import FaultError, fault, pattern_of
from lab.statuses import Answer

if TYPE_CHECKING:
    from lab.world import World

_OBJECTS = "/apis?/"
_KUBECONFIG = f"{layout.HOME}/secrets/rke2-admin-kubeconfig"


@fault("api-slow", "requests for objects (or those that match) take so many seconds more")
def api_slow(world: World, seconds: float = 2.0, request: str = _OBJECTS) -> None:
    """Healthy, but far away or busy."""
    world.api_rules.append(ApiRule(pattern_of(request), after=float(seconds)))


@fault("api-stuck", "requests that match are taken and never answered")
def api_stuck(world: World, request: str = _OBJECTS) -> None:
    """Silence after the connection is made."""
    world.api_rules.append(ApiRule(pattern_of(request), after=math.inf))


@fault("api-forbids", "requests that match are answered 403")
def api_forbids(world: World, request: str) -> None:
    """RBAC says no."""
    world.api_rules.append(ApiRule(pattern_of(request), forbids=True))


@fault("api-answers", "requests that match are answered with this status and body")
def api_answers(
    world: World, request: str, status: int = 503, body: str = "", times: int = 0
) -> None:
    """Whatever the model says; `times` 0 is always."""
    decreed = Answer(status, body)
    world.api_rules.append(ApiRule(pattern_of(request), answer=decreed, times=times or None))


@fault("api-drips", "answers that match come byte by byte, so many seconds apart")
def api_drips(world: World, request: str = _OBJECTS, seconds: float = 0.05) -> None:
    """Never silent for long, and never done."""
    world.api_rules.append(ApiRule(pattern_of(request), drip=float(seconds)))


@fault("api-cuts", "the connection ends in the middle of answers that match")
def api_cuts(world: World, request: str = _OBJECTS, times: int = 0) -> None:
    """Half an answer; `times` 0 is always."""
    world.api_rules.append(ApiRule(pattern_of(request), cuts=True, times=times or None))


@fault("exec-loses-status", "programs run by the API's exec end without their status")
def exec_loses_status(world: World, request: str = "") -> None:
    """The output came, how it ended did not."""
    world.api_rules.append(ApiRule(pattern_of(f"/exec\\?.*{request}"), cuts=True))


@fault("list-changes-midway", "a list that is read page by page cannot be gone on with: 410")
def list_changes_midway(world: World, times: int = 0) -> None:
    """Compacted between two pages; `times` 0 is always."""
    world.api_rules.append(
        ApiRule(pattern_of(r"[?&]continue="), compacts=True, times=times or None)
    )


@fault("ops-kubeconfig-mode", "the kubeconfig on ops01 has this mode, such as 644")
def ops_kubeconfig_mode(world: World, mode: str = "644") -> None:
    """Others may read it."""
    if not re.fullmatch("[0-7]{3,4}", mode):
        raise FaultError(f"`mode` is octal digits such as 644, not `{mode}`")
    if world.bastion.files.has(_KUBECONFIG):
        world.bastion.files.change(_KUBECONFIG, mode=int(mode, 8))


@fault("ops-kubeconfig-server", "the kubeconfig on ops01 leads to this URL")
def ops_kubeconfig_server(world: World, server: str = "https://127.0.0.1:6443") -> None:
    """The `sed` of the runbook was forgotten."""
    _rewrite(world, server=server)


@fault("ops-kubeconfig-foreign", "the kubeconfig on ops01 trusts another cluster's CA")
def ops_kubeconfig_foreign(world: World) -> None:
    """Brought over from somewhere else."""
    authority = b64encode(world.pki.foreign_ca.certificate).decode()
    _rewrite(world, **{"certificate-authority-data": authority})


@fault("ops-kubeconfig-expired", "the certificate in the kubeconfig on ops01 is out of date")
def ops_kubeconfig_expired(world: World) -> None:
    """cp01 has a new one."""
    admin = world.pki.admin(expired=True)
    fields = {"client-certificate-data": admin.certificate, "client-key-data": admin.key}
    _rewrite(world, **{key: b64encode(value).decode() for key, value in fields.items()})


@fault("ops-kubeconfig-missing", "there is no kubeconfig on ops01")
def ops_kubeconfig_missing(world: World) -> None:
    """Nobody brought it over."""
    world.bastion.files.remove(_KUBECONFIG)


def _rewrite(world: World, **fields: str) -> None:
    files = world.bastion.files
    if not files.has(_KUBECONFIG):
        # It is brought over in phase E.
        return
    text = files.read(_KUBECONFIG).decode()
    for key, value in fields.items():
        text = re.sub(rf"(?m)^( *{key}: ).*$", rf"\g<1>{value}", text)
    files.change(_KUBECONFIG, content=text.encode())
