"""Commands on the controller itself."""

from __future__ import annotations

import pytest

from fixtures.core.requests import CONTROLLER, HostCommand
from fixtures.remote.controller import run
from fixtures.remote.errors import LinkError

CAP = 1000


def command(line: str, limit: float = 5.0, stdin: bytes | None = None) -> HostCommand:
    return HostCommand(CONTROLLER, line, limit, stdin=stdin)


def test_streams_and_status_are_kept_apart() -> None:
    output = run(command("echo out; echo err >&2; exit 3"), CAP)
    assert (output.rc, output.stdout, output.stderr) == (3, b"out\n", b"err\n")
    assert run(command("kill -9 $$"), CAP).rc == 137
    assert run(command("cat", stdin=b"fed"), CAP).stdout == b"fed"
    assert run(command("cat"), CAP).stdout == b""


def test_the_environment_points_git_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "elsewhere")
    monkeypatch.setenv("LC_ALL", "es_ES.UTF-8")
    assert run(command('echo "$GIT_DIR $LC_ALL"'), CAP).stdout == b" C\n"


def test_a_flood_is_cut_and_counted() -> None:
    output = run(command("head -c 1500 /dev/zero"), CAP)
    assert (len(output.stdout), output.cut) == (CAP, 500)


def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(LinkError, match=r"the controller: `sleep 60.*` did not end within 0.2 s"):
        run(command("sleep 60 & wait", limit=0.2), CAP)
