"""What every file of the project keeps to."""

from __future__ import annotations

import ast
import re
from pathlib import Path

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


def test_no_file_holds_anything_forbidden() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {what}: {match.group(0).strip()}"
        for path in text_files()
        if path != Path(__file__)
        for what, pattern in FORBIDDEN.items()
        if (match := pattern.search(path.read_text("utf-8")))
    ]
    assert not found


def test_python_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for folder in CHECKED
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > LINES
    }
    assert not long, f"one noun a file: these have more than {LINES} lines"


def test_public_names_have_docstrings() -> None:
    missing = [name for module, path in modules().items() for name in undocumented(module, path)]
    assert not missing


def undocumented(module: str, path: Path) -> list[str]:
    tree = parsed(path)
    missing = [module] if ast.get_docstring(tree) is None else []
    return missing + [
        f"{module}.{node.name}"
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]


def test_no_selftest_is_switched_off() -> None:
    off = re.compile(r"mark\.(skip|xfail)\b(?!if)")
    found = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "selftests").rglob("*.py")
        if path != Path(__file__) and off.search(path.read_text("utf-8"))
    ]
    assert not found
