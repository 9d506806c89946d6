"""Long lists come page by page and are one list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import Response, Silence
from fixtures.remote.errors import LinkError
from fixtures.remote.kube.pages import whole

if TYPE_CHECKING:
    from selftests.remote.kube_stand import Asked, KubeStand

CAP = 1_000_000


class Pages:
    """An API whose list has so many items on each page."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes
        self.paths: list[str] = []
        self.replaced: dict[int, tuple[int, bytes]] = {}
        self.changes: dict[str, Any] = {}

    def ask(self, path: str, room: int) -> tuple[int, bytes]:
        """One page."""
        self.paths.append(path)
        token = parse_qs(urlsplit(path).query).get("continue", ["0"])[0]
        number = int(token.rstrip("/+=") or 0)
        if number in self.replaced:
            return self.replaced[number]
        first = sum(self.sizes[:number])
        items = [{"n": first + index} for index in range(self.sizes[number])]
        metadata = {"resourceVersion": "7"} | self.changes
        if number + 1 < len(self.sizes):
            metadata |= {"continue": f"{number + 1}/+=", "remainingItemCount": 9}
        document = {"kind": "NodeList", "apiVersion": "v1", "metadata": metadata, "items": items}
        return 200, json.dumps(document).encode()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_all_items_are_there_in_their_order(sizes: list[int]) -> None:
    pages = Pages(*sizes)
    status, body = whole(pages.ask, "/api/v1/nodes?labelSelector=a%3Db", CAP)
    document = json.loads(body)
    assert status == 200
    assert [item["n"] for item in document["items"]] == list(range(sum(sizes)))
    assert document["kind"] == "NodeList"
    assert document["metadata"] == {"resourceVersion": "7"}
    assert pages.paths[0] == "/api/v1/nodes?labelSelector=a%3Db&limit=500"
    assert pages.paths[1:2] in ([], [f"{pages.paths[0]}&continue=1%2F%2B%3D"])


@pytest.mark.parametrize(
    "path",
    [
        "/readyz",
        "/version",
        "/api/v1/nodes/rke-cp01",
        "/api/v1/namespaces/kube-system",
        "/api/v1/namespaces/kube-system/pods/x",
        "/api/v1/namespaces/kube-system/pods/x/log?container=c",
        "/apis/apps/v1/namespaces/x/deployments/y",
        "/apis/cilium.io/v2/ciliumnodes/rke-cp01",
        "/api/v1/pods?limit=1",
        "/api/v1/pods?watch=1",
    ],
)
def test_what_is_no_list_is_asked_as_it_is(path: str) -> None:
    pages = Pages(1, 1)
    assert whole(pages.ask, path, CAP)[0] == 200
    assert pages.paths == [path]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nodes",
        "/api/v1/namespaces",
        "/api/v1/namespaces/kube-system/pods",
        "/apis/apps/v1/daemonsets",
        "/apis/cilium.io/v2/namespaces/x/ciliumendpoints",
    ],
)
def test_lists_are_asked_by_pages(path: str) -> None:
    pages = Pages(1)
    whole(pages.ask, path, CAP)
    assert pages.paths == [f"{path}?limit=500"]


@pytest.mark.parametrize(
    ("status", "body", "word"),
    [
        (410, b"{}", "changed while it was read"),
        (200, b"{}", "cannot be read"),
        (200, b'{"metadata": {}, "items": 3}', "cannot be read"),
        (200, b"\xff", "cannot be read"),
        (200, b'{"metadata": {"resourceVersion": "8"}, "items": []}', "changed while it was read"),
        (
            200,
            b'{"metadata": {"resourceVersion": "7", "continue": "1/+="}, "items": []}',
            "never ends",
        ),
        (200, b'{"metadata": {"resourceVersion": "7"}, "items": []' + b" " * 2000, "longer than"),
    ],
)
def test_a_page_that_does_not_fit_makes_the_list_unknown(
    status: int, body: bytes, word: str
) -> None:
    pages = Pages(2, 2, 2)
    pages.replaced[1] = status, body
    with pytest.raises(LinkError) as caught:
        whole(pages.ask, "/api/v1/nodes", 1000)
    assert word in str(caught.value)


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_refusal_in_the_middle_is_the_answer(status: int) -> None:
    pages = Pages(2, 2)
    pages.replaced[1] = status, b"no"
    assert whole(pages.ask, "/api/v1/nodes", CAP) == (status, b"no")


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b'{"items": []}', b'{"metadata": 3, "items": []}', b"[" * 9999],
)
def test_what_is_no_list_stays_as_it_came(body: bytes) -> None:
    pages = Pages(1)
    pages.replaced[0] = 200, body
    assert whole(pages.ask, "/api/v1/nodes", CAP) == (200, body)


def test_pages_share_one_limit_and_one_connection(kube: KubeStand) -> None:
    async def page(asked: Asked) -> None:
        number = int(parse_qs(urlsplit(asked.line).query).get("continue", ["0"])[0])
        metadata = {"resourceVersion": "7"} | ({"continue": str(number + 1)} if number < 3 else {})
        await asked.answer({"metadata": metadata, "items": [number]})

    api = kube.serve(page)
    answer = kube.get("/api/v1/pods")
    assert isinstance(answer, Response)
    assert json.loads(answer.body)["items"] == [0, 1, 2, 3]
    assert (len(api.asked), api.connections) == (4, 1)


def test_pages_that_never_end_are_silence_within_the_limit(kube: KubeStand) -> None:
    count = 0

    async def page(asked: Asked) -> None:
        nonlocal count
        count += 1
        metadata = {"resourceVersion": "7", "continue": str(count)}
        await asked.answer({"metadata": metadata, "items": []})

    kube.serve(page)
    answer = kube.get("/api/v1/pods", limit=0.4)
    assert isinstance(answer, Silence)
    assert 0.4 <= answer.seconds < 1.5
