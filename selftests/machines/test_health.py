"""When a control plane of the lab counts as healthy."""

from __future__ import annotations

import json
from subprocess import CompletedProcess

import pytest

from machines import cluster, plan
from machines.container import Container

ANSWERS = {
    "/readyz": "ok",
    **{path.format(name="rke-cp03"): mark for path, mark in cluster.READ.items()},
}


@pytest.mark.parametrize("silent", [None, *ANSWERS])
def test_its_api_must_read_each_kind_that_gates_read(
    monkeypatch: pytest.MonkeyPatch, silent: str | None
) -> None:
    """Each kind has a connection to etcd of its own, which comes back when it likes."""

    def ask(_: Container, path: str) -> CompletedProcess[str]:
        rc = 28 if path == silent else 0
        return CompletedProcess([], rc, "" if rc else ANSWERS[path], "")

    members = {"members": [{"name": f"rke-cp0{number}"} for number in (1, 2, 3)]}
    monkeypatch.setattr(cluster, "_ask_api", ask)
    monkeypatch.setattr(cluster, "etcdctl", lambda *_: json.dumps(members))
    found = cluster.control_plane_complaints(Container(plan.CONTROL_PLANES[2]), 3)
    assert bool(found) is (silent is not None)
    assert all(silent in line and "rke-cp03" in line for line in found if silent)
