"""What every file of the project keeps to."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from selftests.project.tree import CHECKED, ROOT, modules, parsed, text_files

LINES = 300
FORBIDDEN = {
    "unfinished work": re.compile(r"\b(TODO|FIXME|XXX)\b"),
    "a type check silenced without its code": re.compile(r"#\s*type:\s*ignore(?!\[)"),
    "a rule silenced without its code": re.compile(r"#\s*noqa(?!:\s*[A-Z])", re.IGNORECASE),
    "a path of one machine": re.compile(r"(?<![\w.])/(root|work|farm|Users)/"),
    "a package source": re.compile(r"\b(pypi\.org|pythonhosted\.org|registry\.npmjs\.org)\b"),
    "a banner comment": re.compile(r"^\s*#\s*[-=*#]{4,}", re.MULTILINE),
}
IDS = [str(path.relative_to(ROOT)) for path in text_files()]


@pytest.mark.parametrize("path", text_files(), ids=IDS)
def test_holds_nothing_forbidden(path: Path) -> None:
    text = path.read_text("utf-8")
    found = {
        what: match.group(0).strip()
        for what, pattern in FORBIDDEN.items()
        if (match := pattern.search(text)) and path != Path(__file__)
    }
    assert not found


def test_python_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for folder in CHECKED
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > LINES
    }
    assert not long, f"one noun a file: these have more than {LINES} lines"


@pytest.mark.parametrize("module", modules())
def test_public_names_have_docstrings(module: str) -> None:
    tree = parsed(modules()[module])
    missing = [module] if ast.get_docstring(tree) is None else []
    missing += [
        f"{module}.{node.name}"
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    assert not missing


def test_no_selftest_is_switched_off() -> None:
    off = re.compile(r"mark\.(skip|xfail)\b(?!if)")
    found = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "selftests").rglob("*.py")
        if path != Path(__file__) and off.search(path.read_text("utf-8"))
    ]
    assert not found
