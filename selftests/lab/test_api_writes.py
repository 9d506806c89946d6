"""Writing to the lab's API, and reading it page by page: what the real server answers."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", CONFIGMAPS, {}, (422, "Invalid", 'ConfigMap "" is invalid: metadata.name: ')),
        ("POST", CONFIGMAPS, named("X_y"), (422, "Invalid", 'ConfigMap "X_y" is invalid: ')),
        ("POST", CONFIGMAPS, named("x", namespace="y"), (400, "BadRequest", "the namespace of")),
        ("POST", CONFIGMAPS, {"kind": "Pod"}, (400, "BadRequest", "ConfigMap in version")),
        (
            "POST",
            "/api/v1/namespaces/nowhere/pods",
            named("x"),
            (404, "NotFound", 'namespaces "nowhere" not found'),
        ),
        (
            "POST",
            "/api/v1/namespaces",
            named("default"),
            (409, "AlreadyExists", 'namespaces "default" already exists'),
        ),
        ("PATCH", f"{CONFIGMAPS}/none", {}, (404, "NotFound", 'configmaps "none" not found')),
        (
            "PATCH",
            "/api/v1/nodes/rke-cp01",
            named("rke-cp02"),
            (400, "BadRequest", "the name of the object (rke-cp02) does not match"),
        ),
        (
            "PATCH",
            "/api/v1/nodes/rke-cp01",
            {"metadata": {"resourceVersion": "1"}},
            (409, "Conflict", 'Operation cannot be fulfilled on nodes "rke-cp01": the object has'),
        ),
        ("DELETE", f"{CONFIGMAPS}/none", None, (404, "NotFound", 'configmaps "none" not found')),
        (
            "DELETE",
            "/api/v1/nodes/rke-cp01",
            {"preconditions": {"uid": "other"}},
            (409, "Conflict", "Operation cannot be fulfilled on nodes"),
        ),
        (
            "DELETE",
            "/apis/apps/v1/namespaces/default/deployments/none",
            None,
            (404, "NotFound", 'deployments.apps "none" not found'),
        ),
        (
            "POST",
            "/api/v1/namespaces/kube-system/pods/none/eviction",
            {},
            (404, "NotFound", 'pods "none" not found'),
        ),
    ],
)
def test_refusals(
    world: World, method: str, path: str, body: object, expected: tuple[int, str, str]
) -> None:
    status, reason, message = said(ask(world, method, path, body))
    assert (status, reason) == expected[:2]
    assert message.startswith(expected[2])


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
