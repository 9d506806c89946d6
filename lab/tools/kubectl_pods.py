"""kubectl's verbs for pods: run, logs, expose."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lab import apiserver, apiwrites
from lab.apipaths import Target
from lab.objects import RESOURCES, merged
from lab.tools.call import UsageError
from lab.tools.kubectl_changes import refused

if TYPE_CHECKING:
    from lab.objects import Object
    from lab.tools.call import Call, Options
    from lab.tools.kubeconfig import Api

_KINDS = {resource.kind: resource for resource in RESOURCES}


def run(call: Call, api: Api, options: Options, words: list[str], inner: list[str]) -> int:
    """`run NAME --image=… [--restart=…] [--labels=…] [--overrides=JSON] [--command] [-- ARGV]`."""
    image = options.get("--image")
    if len(words) != 1 or not image:
        call.complain(
            'error: required flag(s) "image" not set'
            if words
            else "error: NAME is required for run"
        )
        return 1
    name, namespace = words[0], options.get("-n", "--namespace") or "default"
    container: Object = {"image": image, "name": name}
    if inner:
        container["command" if "--command" in options else "args"] = inner
    given = options.get("-l", "--labels")
    labels = dict(pair.split("=", 1) for pair in given.split(",")) if given else {"run": name}
    body: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": labels, "name": name},
        "spec": {
            "containers": [container],
            "restartPolicy": options.get("--restart") or "Always",
        },
    }
    overrides = options.get("--overrides")
    if overrides:
        body = merged(body, json.loads(overrides))
    answer = apiwrites.create(call.world, api.host, Target(_KINDS["Pod"], namespace, name), body)
    if answer.status != 201:
        return refused(call, answer)
    call.say(f"pod/{name} created")
    return 0


def expose(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`expose pod NAME --port=N`."""
    port = options.get("--port")
    if len(words) != 2 or words[0] not in ("pod", "po", "pods") or not (port or "").isdigit():
        raise UsageError("error: the lab knows `expose pod NAME --port=N` only")
    namespace, name = options.get("-n", "--namespace") or "default", words[1]
    pod = call.world.objects_of(api.host).get("Pod", namespace, name)
    if pod is None:
        call.complain(f'Error from server (NotFound): pods "{name}" not found')
        return 1
    labels = pod["metadata"].get("labels") or {}
    if not labels:
        call.complain(
            "error: couldn't retrieve selectors via --selector flag: the pod has no labels"
        )
        return 1
    number = int(port or "0")
    body: Object = {
        "metadata": {"labels": labels, "name": name},
        "spec": {
            "ports": [{"port": number, "protocol": "TCP", "targetPort": number}],
            "selector": labels,
        },
    }
    place = Target(_KINDS["Service"], namespace, name)
    answer = apiwrites.create(call.world, api.host, place, body)
    if answer.status != 201:
        return refused(call, answer)
    call.say(f"service/{name} exposed")
    return 0


def logs(call: Call, api: Api, options: Options, words: list[str]) -> int:
    """`logs POD [-c CONTAINER] [--tail=N] [-p]`."""
    if not words or "/" in words[0].removeprefix("pod/"):
        raise UsageError("error: expected 'logs POD', the lab knows no other form")
    namespace, name = options.get("-n", "--namespace") or "default", words[0].removeprefix("pod/")
    pod = call.world.objects_of(api.host).get("Pod", namespace, name)
    container = options.get("-c", "--container") or ""
    if pod is not None and not container and len(pod["spec"]["containers"]) > 1:
        names = [each["name"] for each in pod["spec"]["containers"]]
        container = names[0]
        call.complain(f'Defaulted container "{container}" out of: {", ".join(names)}')
    query = {
        "container": container,
        "tailLines": options.get("--tail") or "",
        "previous": "true" if {"-p", "--previous"} & set(options.values) else "",
    }
    asked = "&".join(f"{key}={value}" for key, value in query.items() if value)
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/log?{asked}"
    answer = apiserver.answer(call.world, api.host, "GET", path, api.client)
    if answer.status != 200:
        return refused(call, answer)
    call.write(answer.body)
    return 0
