"""Running a host command, with its last words in the error."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Final

from machines.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_TAIL_LINES: Final = 15
# Whatever the command starts and mounts ends with us, even if we are killed.
_CONTAINED: Final = (
    *("setpriv", "--pdeathsig", "KILL", "--"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"),
)


def run(
    argv: Sequence[str],
    *,
    stdin: str | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limit: float = 60.0,
    check: bool = True,
    contained: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `argv` to its end, both streams captured as text.

    With `contained` (root only) it leaves no process and no mount behind, whatever ends it.

    Raises:
        LabError: not there, not done within `limit` seconds or, with `check`, rc other than 0.
    """
    try:
        done = subprocess.run(
            [*_CONTAINED, *argv] if contained else argv,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            cwd=cwd,
            env=env,
            timeout=limit,
            check=False,
        )
    except FileNotFoundError as missing:
        raise LabError(f"{argv[0]} is not installed on this host ({missing})") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"`{' '.join(argv)}` did not end within {limit:.0f} s") from None
    if check and done.returncode != 0:
        raise LabError(
            f"`{' '.join(argv)}` ended with rc {done.returncode}:\n"
            + tail(done.stderr or done.stdout)
        )
    return done


def tail(text: str, lines: int = _TAIL_LINES) -> str:
    """The last `lines` lines, indented."""
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-lines:])
