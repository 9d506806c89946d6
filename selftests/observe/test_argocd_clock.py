"""The clock of the node on which a program of Argo CD runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import HostCommand, KubeGet, Output, Response, Silence
from fixtures.core.verdicts import Undecided
from fixtures.observe.argocd import CONTROLLER, ArgoCd
from selftests.gates.world import AT, wetopi

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixtures.core.requests import Answer, Request


class Cluster:
    """Pods by component and node; clocks by node."""

    def __init__(self, pods: list[tuple[str, str, str]], clocks: dict[str, str]) -> None:
        self._pods = pods
        self._clocks = clocks
        self.asked: list[str] = []

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {each: self._answer(each) for each in requests}

    refresh = ask

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, KubeGet):
            items = [
                {
                    "metadata": {
                        "name": f"{name}-{number}",
                        "namespace": "argocd",
                        "uid": f"u{number}",
                        "labels": {"app.kubernetes.io/name": name},
                    },
                    "spec": {"nodeName": node, "containers": [{"name": "c"}]},
                    "status": {"phase": phase},
                }
                for number, (name, node, phase) in enumerate(self._pods)
            ]
            body = json.dumps({"kind": "PodList", "items": items}).encode()
            return Response(request, 200, body, AT, 0.01)
        assert isinstance(request, HostCommand)
        self.asked.append(request.host)
        if request.host not in self._clocks:
            return Silence(request, f"{request.host}: no answer", AT, 1.0)
        return Output(request, 0, self._clocks[request.host].encode(), b"", AT, 0.02)


NOW = AT.timestamp()


def ahead(*pods: tuple[str, str, str], **clocks: str) -> float:
    told = {name.replace("_", "-"): clock for name, clock in clocks.items()}
    return ArgoCd(wetopi(), Cluster(list(pods), told)).clock(CONTROLLER).ahead


def test_it_is_the_clock_of_its_own_node() -> None:
    seen = ahead(
        ("argocd-server", "rke-platform01", "Running"),
        (CONTROLLER, "rke-platform02", "Running"),
        (CONTROLLER, "rke-platform03", "Failed"),
        rke_platform02=f"{NOW + 90:.6f}\n",
    )
    assert seen == pytest.approx(90, abs=0.02)


@pytest.mark.parametrize(
    ("pods", "clocks", "why"),
    [
        ([], {}, "runs on `no node`"),
        ([(CONTROLLER, "", "Pending")], {}, "runs on"),
        ([(CONTROLLER, "somewhere\nelse", "Running")], {}, "runs on"),
        (
            [(CONTROLLER, "rke-platform01", "Running"), (CONTROLLER, "rke-platform02", "Running")],
            {},
            "runs on `rke-platform01, rke-platform02`",
        ),
        ([(CONTROLLER, "rke-platform01", "Running")], {}, "rke-platform01: no answer"),
        ([(CONTROLLER, "rke-platform01", "Running")], {"rke_platform01": "noon"}, "cannot be read"),
    ],
)
def test_a_clock_that_cannot_be_told_is_undecided(
    pods: list[tuple[str, str, str]], clocks: dict[str, str], why: str
) -> None:
    with pytest.raises(Undecided, match=why) as undecided:
        ahead(*pods, **clocks)
    assert "\n" not in str(undecided.value)
