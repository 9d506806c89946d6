"""Only a time-out of wget is one; whatever else went wrong proves nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.in_pod import Said
from fixtures.observe.web_probe import Reach, attempt_of

TIMED_OUT = "wget: download timed out\n"


@pytest.mark.parametrize(
    ("rc", "stderr", "reach"),
    [
        (0, "", Reach.REACHED),
        (0, "remote noise\n", Reach.REACHED),
        (1, "wget: server returned error: HTTP/1.1 403 Forbidden\n", Reach.REACHED),
        (1, TIMED_OUT, Reach.TIMED_OUT),
        (1, f"{TIMED_OUT}command terminated with exit code 1\n", Reach.TIMED_OUT),
        (
            1,
            "wget: can't connect to remote host (10.68.7.9): Connection timed out\n",
            Reach.TIMED_OUT,
        ),
        # Everything that a naive "wget MUST fail" takes for a drop.
        (1, "wget: bad address 'web'\n", Reach.OTHER),
        (1, "wget: unrecognized option '--timeout=5'\nBusyBox v1.35.0 multi-call\n", Reach.OTHER),
        (139, "Segmentation fault\n", Reach.OTHER),
        (139, TIMED_OUT, Reach.OTHER),
        (
            1,
            "wget: can't connect to remote host (10.68.7.9): Connection refused\n",
            Reach.OTHER,
        ),
        (1, "wget: can't connect to remote host: No route to host\n", Reach.OTHER),
        (1, "", Reach.OTHER),
        (4, "", Reach.OTHER),
        (137, "Killed\n", Reach.OTHER),
        (1, "wget: bad address 'download timed out'\n", Reach.OTHER),
    ],
)
def test_what_an_attempt_shows(rc: int, stderr: str, reach: Reach) -> None:
    assert attempt_of(Said(rc, "", stderr)).reach is reach


@given(st.integers(1, 255), st.text(), st.text())
def test_nothing_else_is_taken_for_a_time_out(rc: int, stdout: str, stderr: str) -> None:
    attempt = attempt_of(Said(rc, stdout, stderr))
    assert attempt.reach is Reach.OTHER or "wget: " in (stderr or stdout)
    assert all(char.isprintable() for char in attempt.said)
