"""G.1 against what Argo CD's pods may be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fixtures.core.inventory import Label
from fixtures.core.inventory_file import load
from fixtures.judge.argocd import CONTROLLER, DEPLOYMENTS, seven_pods
from fixtures.observe.nodes import Condition
from fixtures.observe.pod import Container, Pod
from fixtures.observe.pods import Everywhere
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")


def pod(name: str, *, owner: str = "ReplicaSet") -> Pod:
    labels = (Label("app.kubernetes.io/name", name),)
    return Pod(
        "argocd",
        f"{name}-x",
        name,
        "n",
        "Running",
        False,
        (owner,),
        labels,
        (),
        (Container("c", ready=True),),
        (Condition("Ready", "True", "", ""),),
        deleting=False,
    )


PODS = (pod(CONTROLLER, owner="StatefulSet"), *map(pod, DEPLOYMENTS))


def test_seven_pods_pass() -> None:
    assert seven_pods(Everywhere(PODS), CLUSTER) == ()


@pytest.mark.parametrize("missing", range(7))
def test_each_missing_pod_is_named(missing: int) -> None:
    (found,) = seven_pods(Everywhere(PODS[:missing] + PODS[missing + 1 :]), CLUSTER)
    assert found.startswith(PODS[missing].uid)


def test_no_pod_at_all_is_seven_findings() -> None:
    assert len(seven_pods(Everywhere(()), CLUSTER)) == 7


@pytest.mark.parametrize(
    "change",
    [
        {"containers": ()},
        {"containers": (Container("c", ready=False),)},
        # A dead node's: the containers stay ready.
        {"conditions": (Condition("Ready", "False", "", ""),)},
        {"conditions": ()},
        {"phase": "Pending"},
        {"deleting": True},
        {"owners": ("Job",)},
        {"labels": ()},
    ],
)
def test_a_pod_that_is_not_as_it_should_be_fails(change: dict[str, object]) -> None:
    pods = (replace(PODS[0], **change), *PODS[1:])  # type: ignore[arg-type]
    assert seven_pods(Everywhere(pods), CLUSTER)
