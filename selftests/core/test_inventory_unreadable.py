"""A file that cannot be an inventory is told in one sentence, whatever it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.core.inventory_file import InventoryError, load

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENTS = {
    "empty": (b"", None, "is empty, expected an inventory"),
    "blank": (b" \n\n", None, "is empty, expected an inventory"),
    "comments": (b"# one\n", 1, "holds only comments, expected an inventory"),
    "null": (b"null\n", 1, "found nothing, expected a table (`key: value` lines)"),
    "list": (b"- a\n", 1, "found a list, expected a table (`key: value` lines)"),
    "text": (b"hello\n", 1, "found 'hello', expected a table (`key: value` lines)"),
    "latin-1": (b"name: a\nx: gr\xfc\n", 2, "found the byte 0xfc, expected UTF-8 text"),
    "cut": (b"name: a\n\xe2\x82", 2, "found the byte 0xe2, expected UTF-8 text"),
    "utf-16": ("name: a\n".encode("utf-16"), 1, "found the byte 0xff, expected UTF-8 text"),
    "bom": (
        b"\xef\xbb\xbfname: a\n",
        1,
        "begins with a byte order mark, expected UTF-8 without one",
    ),
    "tab": (
        b"bastion:\n\tname: a\n",
        2,
        "found a tab, expected spaces (YAML does not indent with tabs)",
    ),
    "escape": (b"name: a\n# \x1b[31m\n", 2, "found the character U+001B, expected printable text"),
    "documents": (
        b"name: a\n---\nname: b\n",
        2,
        "found a second document (`---`), expected one document",
    ),
    "large": (
        b"#" * (1024 * 1024 + 1),
        None,
        "is larger than 1 MiB, expected a YAML file of a few pages",
    ),
    "bomb": (
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        1,
        "found an anchor or alias (`&` or `*`), expected the value written out",
    ),
    "deep": (b"[" * 100_000, 1, "found more than 16 levels, expected the inventory's tables"),
    "directive": (
        b"%YAML " + b"9" * 5000 + b".1\n--- {}\n",
        1,
        "is not valid YAML: a number in an escape or directive is too large",
    ),
}


@pytest.mark.parametrize("case", CONTENTS)
def test_contents(case: str, write: Callable[..., Path]) -> None:
    content, line, says = CONTENTS[case]
    path = write(content)
    with pytest.raises(InventoryError) as caught:
        load(path)
    place = str(path) if line is None else f"{path}:{line}"
    assert str(caught.value) == f"{place}: {says}"
    assert caught.value.line == line


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InventoryError) as caught:
        load(tmp_path / "none.yaml")
    assert str(caught.value) == f"{tmp_path}/none.yaml: cannot be read: No such file or directory"


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="is a directory, expected a YAML file"):
        load(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InventoryError, match="is not a regular file, expected a YAML file"):
        load(tmp_path / "pipe")


def test_a_path_below_a_file(good: str, write: Callable[..., Path]) -> None:
    with pytest.raises(InventoryError, match="cannot be read: Not a directory"):
        load(write(good) / "inventory.yaml")


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InventoryError, match="cannot be read: Too many levels of symbolic links"):
        load(tmp_path / "loop")


def test_a_file_without_permission(good: str, write: Callable[..., Path]) -> None:
    path = write(good)
    path.chmod(0)
    nobody = 65534
    before = os.geteuid()
    if before == 0:
        os.seteuid(nobody)
    try:
        with pytest.raises(InventoryError, match="cannot be read: Permission denied"):
            load(path)
    finally:
        os.seteuid(before)


def test_the_home_of_nobody() -> None:
    with pytest.raises(InventoryError, match="this user has no home directory here"):
        load(Path("~nosuchuser/inventory.yaml"))


def test_a_nul_in_the_name_is_told_without_it() -> None:
    with pytest.raises(InventoryError, match="cannot be read") as caught:
        load(Path("a\0b\x1b[31m.yaml"))
    assert str(caught.value).isprintable()
