"""Writes docs/limits.md from the table of limits: `make docs`."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.core import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).with_name("limits.md")
_HEAD = """\
# The limits

Written by `make docs` from `fixtures/core/limits.py`. Change that, not this page.

Every time-out, retry and budget of the suite. Seconds, unless the name says otherwise.
The inventory's `limits:` table may change each; its SHA-256 is in the log of every run.
"Suite" marks a number that neither the runbook nor the handbook states.

| `limits:` | default | what it is, and where it comes from |
|---|---|---|
"""


def render() -> str:
    """The whole page, from the limits as they are now."""
    said = dict(_said())
    rows = [
        f"| `{each.name}` | {f'{each.default:,}'.removesuffix('.0')} | {said[each.name]} |"
        for each in fields(limits.Limits)
    ]
    return _HEAD + "\n".join(rows) + "\n"


def _said() -> Iterator[tuple[str, str]]:
    """Each limit's name, and what its source says of it."""
    tree = ast.parse(Path(limits.__file__).read_text("utf-8"))
    (table,) = (
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Limits"
    )
    for field, text in zip(table.body, table.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            yield field.target.id, " ".join(str(text.value.value).split())


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
