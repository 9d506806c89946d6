"""kubectl's verbs for nodes: cordon, uncordon, label, taint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab import apiwrites, taints
from lab.apipaths import Target
from lab.objects import RESOURCES, resource_named
from lab.tools.call import UsageError
from lab.tools.kubectl_changes import refused

if TYPE_CHECKING:
    from lab.objects import Object, Resource
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

NODES = next(resource for resource in RESOURCES if resource.kind == "Node")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def node_of(call: Call, api: Api, name: str) -> Object | None:
    """The node; None with kubectl's complaint."""
    node = call.world.objects_of(api.host).get("Node", "", name)
    if node is None:
        call.complain(f'Error from server (NotFound): nodes "{name}" not found')
    return node


def cordon(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`cordon NODE`."""
    del options
    return _schedulable(call, api, words, wanted=False)


def uncordon(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`uncordon NODE`."""
    del options
    return _schedulable(call, api, words, wanted=True)


def _schedulable(call: Call, api: Api, words: list[str], *, wanted: bool) -> int:
    if len(words) != 1:
        raise UsageError("error: USAGE: one NODE, the lab knows no selector")
    name = words[0].removeprefix("node/").removeprefix("nodes/")
    node = node_of(call, api, name)
    if node is None:
        return 1
    verb = "uncordoned" if wanted else "cordoned"
    if bool(node["spec"].get("unschedulable")) is not wanted:
        call.say(f"node/{name} already {verb}")
        return 0
    if not (wanted and name in call.world.trouble.stays_cordoned):
        patch: Object = {"spec": {"unschedulable": None if wanted else True}}
        answer = apiwrites.merge(call.world, api.host, Target(NODES, "", name), patch)
        if answer.status != 200:
            return refused(call, answer)
    call.say(f"node/{name} {verb}")
    return 0


def label(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`label KIND NAME K=V… K-… [--overwrite]`."""
    resource, name, changes = _named(words)
    namespace = (options.get("-n", "--namespace") or "default") if resource.namespaced else ""
    item = call.world.objects_of(api.host).get(resource.kind, namespace, name)
    if item is None:
        call.complain(f'Error from server (NotFound): {resource.qualified} "{name}" not found')
        return 1
    own = item["metadata"].get("labels") or {}
    patch: dict[str, str | None] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            key = change.removesuffix("-")
            if key not in own:
                call.say(f'label "{key}" not found.')
            patch[key] = None
            continue
        if own.get(key, value) != value and "--overwrite" not in options:
            call.complain(
                f"error: '{key}' already has a value ({own[key]}), and --overwrite is false"
            )
            return 1
        patch[key] = value
    answer = apiwrites.merge(
        call.world, api.host, Target(resource, namespace, name), {"metadata": {"labels": patch}}
    )
    if answer.status != 200:
        return refused(call, answer)
    changed = {key: value for key, value in patch.items() if own.get(key) != value}
    verb = "labeled" if any(changed.values()) else "unlabeled" if changed else "not labeled"
    call.say(f"{resource.singular}/{name} {verb}")
    return 0


def taint(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`taint nodes NAME K[=V]:EFFECT… K[:EFFECT]-… [--overwrite]`."""
    resource, name, changes = _named(words)
    if resource.kind != "Node":
        raise UsageError(f"error: invalid resource type {resource.plural}, only node(s) supported")
    node = node_of(call, api, name)
    if node is None:
        return 1
    left = list(taints.of(node))
    removed = False
    for change in changes:
        place, _, effect = change.removesuffix("-").partition(":")
        key, _, value = place.partition("=")
        same = [each for each in left if each["key"] == key and effect in ("", each["effect"])]
        if change.endswith("-"):
            if not same:
                call.complain(f'error: taint "{change.removesuffix("-")}" not found')
                return 1
            removed = True
        elif effect not in _EFFECTS:
            raise UsageError(f"error: invalid taint effect: {effect}, unsupported taint effect")
        elif same and "--overwrite" not in options:
            call.complain(
                f"error: node {name} already has {key} taint(s) with same effect(s) and "
                "--overwrite is false"
            )
            return 1
        left = [each for each in left if each not in same]
        if not change.endswith("-"):
            left.append({"effect": effect, "key": key} | ({"value": value} if value else {}))
    patch: dict[str, Any] = {"spec": {"taints": left or None}}
    answer = apiwrites.merge(call.world, api.host, Target(NODES, "", name), patch)
    if answer.status != 200:
        return refused(call, answer)
    call.say(f"node/{name} {'untainted' if removed else 'tainted'}")
    return 0


def _named(words: list[str]) -> tuple[Resource, str, list[str]]:
    if not words:
        raise UsageError("error: one or more resources must be specified")
    kind, slash, name = words[0].partition("/")
    resource = resource_named(kind)
    if resource is None:
        raise UsageError(f'error: the server doesn\'t have a resource type "{kind}"')
    rest = words[1:] if slash else words[2:]
    if not slash and len(words) < 2:
        raise UsageError("error: one or more resources must be specified")
    return resource, name if slash else words[1], rest
