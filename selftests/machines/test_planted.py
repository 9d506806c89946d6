"""What the lab planted is found in whatever form it is shown."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from machines import planted

if TYPE_CHECKING:
    from pathlib import Path

VALUE = "planted-key-of-the-ceph-user"


@pytest.mark.parametrize(
    "text",
    [
        VALUE,
        f'"userKey": "{base64.b64encode(VALUE.encode()).decode()}"',
        f"k8s\x00\xff{VALUE}\x1a",
    ],
)
def test_a_value_that_is_shown_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "run.html").write_text(text, encoding="latin-1")
    (tmp_path / "run.txt").write_text("PASS")
    (found,) = planted.shown(tmp_path, {"the key": VALUE})
    assert found == f"the key is in {tmp_path}/reports/run.html"


def test_what_is_not_shown_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("planted-key-of-the-ceph")
    assert planted.shown(tmp_path, {"the key": VALUE}) == []
