"""Secrets of the environment are known before anything is said, and so is the live line's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.applylog.redact import MARK, Redactor
from fixtures.session import surroundings
from fixtures.session.live import LiveLine

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "Pl4nt0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    ["ARGOCD_REPO_TOKEN", "GITHUB_PAT", "CEPH_USER_KEY", "DB_PASSWORD", "x_secret", "TOKEN2"],
)
def test_variables_named_like_a_secret_are_learnt(name: str) -> None:
    assert list(surroundings.secrets_in({name: SECRET})) == [SECRET]


def test_what_evidence_may_need_is_not_learnt(tmp_path: Path) -> None:
    environment = {
        "HOME": SECRET,
        "TOKENIZERS": SECRET,
        "KEYBOARD": SECRET,
        "API_TOKEN": "development",
        "SSH_KEY": str(tmp_path),
        "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere/at/all/there.json",
    }
    assert list(surroundings.secrets_in(environment)) == []


def test_the_live_line_tells_no_secret(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    redactor = Redactor()
    redactor.learn(SECRET)
    monkeypatch.setattr("fixtures.applylog.redact.redact", redactor.text)
    live = LiveLine()
    live._fd, live._tty = 2, True
    live.say(f"doing it with {SECRET}")
    live.tell(f"the key is {SECRET}; token: abcdef")
    told = capfd.readouterr().err
    assert SECRET not in told
    assert "abcdef" not in told
    assert told.count(MARK) == 3
