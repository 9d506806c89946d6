"""The drift drill's edit: made once, and taken back only where it is still there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.requests import HostCommand, KubeChange, KubeGet, Output, Response, Silence
from fixtures.core.verdicts import Undecided
from fixtures.drills.authorization import Authorization
from fixtures.drills.edit import Edit
from fixtures.drills.flags import Flags
from fixtures.drills.scene import Scene
from fixtures.observe.managed import ConfigMap
from selftests.gates.world import AT, wetopi

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixtures.core.requests import Answer, Request

ITEM = ConfigMap("platform", "settings", "uid-1", "7", (), (("region", "gra"), ("tier", "x")))
EDIT = Edit.of(ITEM, "region")


@dataclass
class Cluster:
    """One ConfigMap; `answers` is what a change is answered with, None is nothing."""

    data: dict[str, str] = field(default_factory=lambda: dict(ITEM.data))
    uid: str = "uid-1"
    there: bool = True
    answers: int | None = 200
    log_breaks: bool = False
    sent: list[dict[str, Any]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    fields: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {each: self._answer(each) for each in requests}

    refresh = ask

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, HostCommand):
            return Output(request, 0, b"", b"", AT, 0.01)
        if isinstance(request, KubeChange):
            self.sent.append(json.loads(request.body or ""))
            if self.answers is None:
                return Silence(request, "the link was lost", AT, 1.0)
            return Response(request, self.answers, b'{"message":"modified"}', AT, 0.01)
        assert isinstance(request, KubeGet)
        if not self.there:
            status = {"reason": "NotFound", "details": {"name": "settings"}}
            return Response(request, 404, json.dumps(status).encode(), AT, 0.01)
        about = {
            "name": "settings",
            "namespace": "platform",
            "uid": self.uid,
            "resourceVersion": "9",
        }
        item = {"kind": "ConfigMap", "metadata": about, "data": self.data}
        return Response(request, 200, json.dumps(item).encode(), AT, 0.01)

    def step(self, what: str, /, **fields: Any) -> bool:
        self.log.append(f"{what}: {fields.get('state')}")
        self.fields.append(fields)
        return not self.log_breaks

    @property
    def scene(self) -> Scene:
        given_ = Authorization("Ana", frozenset({"G.9"}), datetime.now(UTC), 60.0, "id", "op")

        def silently(_text: str) -> None:
            pass

        return Scene(
            cluster=wetopi(),
            run="me",
            gate="G.9",
            asker=self,
            forget=lambda: None,
            flags=Flags(wetopi(), self, {}),
            authorization=given_,
            log=self.step,
            pending=lambda: None,
            say=silently,
            deviate=silently,
            note=silently,
        )


def test_it_is_made_of_exactly_the_state_that_was_seen_and_the_log_has_no_value() -> None:
    cluster = Cluster()
    EDIT.make(cluster.scene, ITEM)
    assert cluster.sent == [{"metadata": {"resourceVersion": "7"}, "data": {"region": "gra\n"}}]
    assert cluster.log == ["edit what Git manages: sending", "edit what Git manages: done"]
    assert "gra" not in json.dumps(cluster.fields)


@pytest.mark.parametrize(
    ("answers", "state"), [(409, "failed"), (403, "failed"), (None, "unknown")]
)
def test_what_is_not_made_is_told_and_not_sent_again(answers: int | None, state: str) -> None:
    cluster = Cluster(answers=answers)
    with pytest.raises(Undecided):
        EDIT.make(cluster.scene, ITEM)
    assert len(cluster.sent) == 1
    assert cluster.log[-1] == f"edit what Git manages: {state}"


def test_what_cannot_be_recorded_is_not_made_but_is_taken_back() -> None:
    cluster = Cluster(log_breaks=True)
    with pytest.raises(Undecided, match="the apply log is broken"):
        EDIT.make(cluster.scene, ITEM)
    assert cluster.sent == []
    cluster.data["region"] = "gra\n"
    EDIT.take_back(cluster.scene)
    assert len(cluster.sent) == 1


@pytest.mark.parametrize(
    ("changes", "found", "sent"),
    [
        ({"data": {"region": "gra\n", "tier": "y"}}, "is as it was again", True),
        ({"data": {"region": "gra"}}, "is as it was", False),
        ({"data": {"region": "sbg"}}, "was changed by somebody since", False),
        ({"data": {"region": "gra\n\n"}}, "was changed by somebody since", False),
        ({"data": {}}, "was changed by somebody since", False),
        ({"there": False}, "is gone", False),
        ({"data": {"region": "gra\n"}, "uid": "uid-2"}, "is another one now", False),
    ],
)
def test_only_the_edit_itself_is_taken_back(
    changes: dict[str, Any], found: str, sent: bool
) -> None:
    cluster = Cluster(**changes)
    assert EDIT.take_back(cluster.scene).endswith(found)
    wanted = [{"metadata": {"resourceVersion": "9"}, "data": {"region": "gra"}}]
    assert cluster.sent == (wanted if sent else [])


def test_what_is_not_taken_back_is_undecided() -> None:
    with pytest.raises(Undecided, match="409"):
        EDIT.take_back(Cluster(data={"region": "gra\n"}, answers=409).scene)


@given(st.text(max_size=30), st.text(min_size=1, max_size=10))
def test_the_next_run_knows_it_by_what_the_log_keeps(value: str, entry: str) -> None:
    edit = Edit.of(ConfigMap("a", "b", "u", "1", (), ((entry, value),)), entry)
    assert Edit.told({"edit": edit.fields()}) == edit
    for name in edit.fields():
        assert Edit.told({"edit": {**edit.fields(), name: None}}) is None
    cluster = Cluster(data={entry: value + "\n"}, uid="u")
    edit.take_back(cluster.scene)
    assert cluster.sent[0]["data"] == {entry: value}


@pytest.mark.parametrize("fields", [{}, {"edit": None}, {"edit": "x"}, {"edit": {}}])
def test_a_line_without_an_edit_tells_of_none(fields: dict[str, Any]) -> None:
    assert Edit.told(fields) is None
