"""Runs the body of a gate that makes pods, and removes what it made."""

from __future__ import annotations

import importlib.util
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

from fixtures.core.verdicts import Undecided
from fixtures.observe.dns import Dns
from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from types import ModuleType

    from selftests.trials.cluster import Api


@cache
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("d2_pods", ROOT / "tests" / "d2" / "test_pods.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def decide(api: Api, gate: str) -> tuple[str, str, dict[str, Any]]:
    """Verdict, what was said, and what was recorded; whatever was made is removed again."""
    (body,) = (
        each
        for name, each in vars(module()).items()
        if name.startswith("test_") and any(mark.args == (gate,) for mark in each.pytestmark)
    )
    trial, facts = api.trial(gate), dict[str, Any]()
    given = {
        "trial": trial,
        "dns": Dns(api.cluster, api),
        "cluster": api.cluster,
        "record": facts.__setitem__,
    }
    try:
        body(**{name: given[name] for name in inspect.signature(body).parameters})
    except AssertionError as error:
        verdict, said = "FAIL", str(error)
    except Undecided as error:
        verdict, said = "UNKNOWN", str(error)
    else:
        verdict, said = "PASS", ""
    finally:
        trial.remove()
    assert api.objects == {}
    return verdict, said, facts
