"""The project's own files, as the checks of this folder see them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fixtures", "lab", "machines", "tests")
CHECKED = (*PACKAGES, "bench", "docs", "selftests")


@cache
def modules() -> dict[str, Path]:
    """Every Python module of the product: dotted name to file."""
    return {
        dotted(path): path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "__pycache__" not in path.parts
    }


def dotted(path: Path) -> str:
    """The dotted module name of a file; a package's is that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def text_files() -> list[Path]:
    """Every file a person wrote: code, documents, data, recipes; not what tools leave behind."""
    top = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    deep = [
        path
        for folder in (*CHECKED, ".ci", "inventories")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    return sorted(path for path in top + deep if path.suffix not in {".png", ".lock", ".sum"})


@cache
def parsed(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text("utf-8"), filename=str(path))


@cache
def imports(path: Path, *, run_time: bool = False) -> frozenset[str]:
    """Dotted names a file imports; `from package import module` is the module.

    With `run_time`, those of `if TYPE_CHECKING:` and of function bodies are left out.
    """
    known = modules()
    found: set[str] = set()
    tree = parsed(path)
    for node in tree.body if run_time else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, path)
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in known else base for name in names}
    return frozenset(found)


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    """What `from ..part import …` starts from, as a dotted name."""
    if not node.level:
        return node.module or ""
    here = path.parent.relative_to(ROOT).parts
    return ".".join([*here[: len(here) - node.level + 1], *([node.module] if node.module else [])])
