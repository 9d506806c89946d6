"""Writing to the lab's API, and reading it page by page: what the real server answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from lab import apilists, apiserver
from lab.pki import client_of
from selftests.lab.world import world_at

if TYPE_CHECKING:
    from lab.world import World

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def world() -> World:
    return world_at("c")


def ask(world: World, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Status and document of one request to cp01's API as the administrator."""
    sent = b"" if body is None else json.dumps(body).encode()
    client = client_of(world.pki.admin().certificate)
    answer = apiserver.answer(world, world.first_control_plane, method, path, client, body=sent)
    assert answer.known, (method, path)
    return answer.status, answer.document


def said(answer: tuple[int, Any]) -> tuple[int, str, str]:
    """Status, reason and message of a refusal."""
    status, document = answer
    assert (document["kind"], document["code"]) == ("Status", status)
    return status, document["reason"], document["message"]


def named(name: str, **fields: object) -> dict[str, object]:
    """A document with that name."""
    return {"metadata": {"name": name, **fields}}


def test_an_object_is_made_changed_and_removed(world: World) -> None:
    status, made = ask(world, "POST", CONFIGMAPS, named("x") | {"data": {"a": "1", "b": "2"}})
    assert (status, made["kind"], made["apiVersion"]) == (201, "ConfigMap", "v1")
    metadata = made["metadata"]
    assert {"uid", "creationTimestamp", "resourceVersion", "namespace"} <= metadata.keys()
    status, merged = ask(world, "PATCH", f"{CONFIGMAPS}/x", {"data": {"a": None, "c": "3"}})
    assert (status, merged["data"]) == (200, {"b": "2", "c": "3"})
    assert merged["metadata"]["uid"] == metadata["uid"]
    assert int(merged["metadata"]["resourceVersion"]) > int(metadata["resourceVersion"])
    assert ask(world, "PATCH", f"{CONFIGMAPS}/x", {"data": {"c": "3"}}) == (200, merged)
    assert ask(world, "GET", f"{CONFIGMAPS}/x")[0] == 200
    status, gone = ask(world, "DELETE", f"{CONFIGMAPS}/x")
    assert (status, gone["status"], gone["details"]) == (
        200,
        "Success",
        {"name": "x", "kind": "configmaps", "uid": metadata["uid"]},
    )
    assert said(ask(world, "GET", f"{CONFIGMAPS}/x")) == (
        404,
        "NotFound",
        'configmaps "x" not found',
    )


def test_a_generated_name_is_another_each_time(world: World) -> None:
    names = {
        ask(world, "POST", CONFIGMAPS, {"metadata": {"generateName": "x-"}})[1]["metadata"]["name"]
        for _ in range(5)
    }
    assert len(names) == 5
    assert all(name.startswith("x-") and len(name) == 7 for name in names)


def measured() -> list[dict[str, Any]]:
    """Requests to a kube-apiserver v1.36.3 in their order, and what it answered."""
    path = Path(__file__).parent / "captures" / "api-writes.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def comparable(value: object) -> object:
    """The answer without what differs between two honest runs."""
    text = json.dumps(value, sort_keys=True)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "UID", text)
    text = re.sub(r"20\d\d-\d\d-\d\dT[\d:]{8}Z", "TIME", text)
    text = re.sub(r"in record \(\d+\)", "in record (N)", text)
    return json.loads(re.sub(r'"resourceVersion": "\d+"', '"resourceVersion": "N"', text))


def test_the_real_servers_answers(world: World) -> None:
    client = client_of(world.pki.admin().certificate)
    host = world.first_control_plane
    for each in measured():
        method, path = each["request"].split(" ")
        sent = b"" if each["sent"] is None else json.dumps(each["sent"]).encode()
        answer = apiserver.answer(world, host, method, path, client, body=sent)
        found = answer.document if isinstance(each["answer"], dict) else answer.body.strip()
        assert answer.status == each["status"], each
        assert comparable(found) == comparable(each["answer"]), each["request"]


def test_what_holds_an_object_keeps_it(world: World) -> None:
    ask(world, "POST", CONFIGMAPS, named("held", finalizers=["suite/x"]))
    status, held = ask(world, "DELETE", f"{CONFIGMAPS}/held")
    assert (status, held["metadata"]["finalizers"]) == (200, ["suite/x"])
    assert "deletionTimestamp" in held["metadata"]
    assert said(ask(world, "POST", CONFIGMAPS, named("held")))[2] == (
        'object is being deleted: configmaps "held" already exists'
    )
    ask(world, "PATCH", f"{CONFIGMAPS}/held", {"metadata": {"finalizers": None}})
    assert ask(world, "GET", f"{CONFIGMAPS}/held")[0] == 404


@pytest.mark.parametrize(
    ("policy", "left"), [("Background", False), ("Foreground", False), ("Orphan", True)]
)
def test_what_it_owned_goes_with_it_unless_it_is_orphaned(
    world: World, policy: str, left: bool
) -> None:
    _, owner = ask(world, "POST", CONFIGMAPS, named("owner"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner"}
    reference["uid"] = owner["metadata"]["uid"]
    ask(world, "POST", CONFIGMAPS, named("owned", ownerReferences=[reference]))
    ask(world, "DELETE", f"{CONFIGMAPS}/owner?propagationPolicy={policy}")
    status, owned = ask(world, "GET", f"{CONFIGMAPS}/owned")
    assert status == (200 if left else 404)
    if left:
        assert owned["metadata"]["ownerReferences"] == []


def test_a_selection_is_removed_at_once(world: World) -> None:
    for name in ("a", "b", "c"):
        labels = {"run": "x" if name < "c" else "y"}
        ask(world, "POST", CONFIGMAPS, named(name, labels=labels))
    status, listed = ask(world, "DELETE", f"{CONFIGMAPS}?labelSelector=run%3Dx")
    assert (status, len(listed["items"])) == (200, 2)
    left = ask(world, "GET", f"{CONFIGMAPS}?labelSelector=run")[1]["items"]
    assert [item["metadata"]["name"] for item in left] == ["c"]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("tier=a", "one two"),
        ("tier==a,size!=big", "one"),
        ("tier!=a", "three four"),
        ("tier in (a, b)", "one two three"),
        ("tier notin (a)", "three four"),
        ("size", "one two"),
        ("!size", "three four"),
    ],
)
def test_label_selectors(world: World, labels: str, names: str) -> None:
    for name, own in (
        ("one", {"tier": "a", "size": "small"}),
        ("two", {"tier": "a", "size": "big"}),
        ("three", {"tier": "b"}),
        ("four", {}),
    ):
        ask(world, "POST", CONFIGMAPS, named(name, labels={"mine": "yes"} | own))
    path = f"{CONFIGMAPS}?labelSelector={quote(f'mine,{labels}')}"
    items = ask(world, "GET", path)[1]["items"]
    assert {item["metadata"]["name"] for item in items} == set(names.split())


def test_selectors_that_are_none(world: World) -> None:
    for query in ("labelSelector=%28a", "labelSelector=a%3Db%3Dc", "fieldSelector=a"):
        assert ask(world, "GET", f"{CONFIGMAPS}?{query}")[0] == 400
    assert ask(world, "GET", f"{CONFIGMAPS}?limit=x")[0] == 400


def test_pages_are_of_one_moment(world: World) -> None:
    def names(page: dict[str, Any]) -> list[str]:
        return [item["metadata"]["name"] for item in page["items"]]

    whole = names(ask(world, "GET", "/api/v1/nodes")[1])
    _, page = ask(world, "GET", "/api/v1/nodes?limit=2")
    version, seen = page["metadata"]["resourceVersion"], names(page)
    assert page["metadata"]["remainingItemCount"] == len(whole) - 2
    ask(world, "POST", CONFIGMAPS, named("meanwhile"))
    world.objects.delete("Node", "", whole[-1])
    while token := page["metadata"].get("continue"):
        _, page = ask(world, "GET", f"/api/v1/nodes?limit=2&continue={token}")
        assert page["metadata"]["resourceVersion"] == version
        seen += names(page)
    assert seen == whole


def test_a_page_of_a_list_that_is_gone(world: World) -> None:
    token = ask(world, "GET", "/api/v1/nodes?limit=1")[1]["metadata"]["continue"]
    apilists.forget(world.objects)
    status, reason, message = said(ask(world, "GET", f"/api/v1/nodes?continue={token}"))
    assert (status, reason) == (410, "Expired")
    assert message.startswith("The provided continue parameter is too old")
    assert said(ask(world, "GET", "/api/v1/nodes?continue=%21"))[0] == 400
