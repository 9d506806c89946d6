"""Each limit is positive, finite and says where it comes from."""

from __future__ import annotations

import ast
import inspect
import math
import re

import pytest

from fixtures.core.limits import Limits
from selftests.project.tree import ROOT


def sources() -> dict[str, str]:
    body = ast.parse(inspect.getsource(Limits)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for statement, following in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            assert isinstance(following, ast.Expr), statement.target.id
            found[statement.target.id] = ast.literal_eval(following.value)
    return found


@pytest.mark.parametrize("name", Limits.names())
def test_source_and_value(name: str) -> None:
    assert sources()[name].startswith(("Suite:", "Design", "Runbook", "Handbook", "gates.md"))
    value = getattr(Limits(), name)
    assert value > 0
    assert math.isfinite(value)


def test_whole_limits() -> None:
    assert Limits.whole() == {
        "parallel_commands",
        "read_cap_bytes",
        "evidence_cap_bytes",
        "hubble_last",
    }


def test_each_limit_limits_something() -> None:
    """A number that nobody reads is a promise that nobody keeps."""
    texts = [
        path.read_text()
        for folder in ("fixtures", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "limits.py"
    ]
    read = {name for text in texts for name in re.findall(r"\blimits\.(\w+)", text)}
    assert set(Limits.names()) - read == set()
