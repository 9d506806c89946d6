"""What the command line says of a folder that it cannot open: not that the log is broken."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog.__main__ import NO_LOG, main

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.applylog.ledger import Ledger

COMMANDS = pytest.mark.parametrize("command", ["status", "show", "dod", "verify", "render"])


@COMMANDS
def test_a_colleagues_folder(
    command: str,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = ledger.path.parent
    opening = os.open

    def refused(path: str | Path, flags: int, mode: int = 0o777, dir_fd: int | None = None) -> int:
        if path == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opening(path, flags, mode, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        code = main([command, f"--reports={folder.parent}", "--cluster=lab"])
    assert code == NO_LOG
    assert capsys.readouterr() == ("", f"{folder} cannot be read: Permission denied\n")


@COMMANDS
def test_a_name_longer_than_any_folders(
    command: str, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = ledger.path.parent.parent
    assert main([command, f"--reports={reports}", f"--cluster={'x' * 300}"]) == NO_LOG
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("x cannot be read: File name too long\n")
