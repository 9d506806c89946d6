"""Which line of stderr says why."""

from __future__ import annotations

import pytest

from fixtures.core.requests import HostCommand, Output
from fixtures.observe.answers import complaint
from selftests.gates.world import AT

DUMP = 'error: no template\n\tobject was:\n\t\tmap[string]interface {}{"data":"hush"}\n'


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("", "nothing"),
        ("a\nb\n", "`b`"),
        ("why\ncommand terminated with exit code 1\n", "`why`"),
        ('{"level":"warn"}\n', '`{"level":"warn"}`'),
        # What is indented only explains it.
        (DUMP, "`error: no template`"),
        ("\tonly that\n", "`only that`"),
        ("why\n  because\n\n", "`why`"),
    ],
)
def test_the_telling_line(stderr: str, said: str) -> None:
    request = HostCommand("rke-cp01", "true", 1.0)
    assert complaint(Output(request, 1, b"", stderr.encode(), AT, 0.0)) == said
