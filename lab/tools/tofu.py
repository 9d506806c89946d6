"""tofu on ops01: what a saved plan holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import plan
from lab.filesystem import FileError
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.tools.call import Call


async def tofu(call: Call) -> int:
    """`tofu -chdir=FOLDER show -json PLAN`."""
    words = list(call.arguments)
    folder = call.path(".")
    if words and words[0].startswith("-chdir="):
        folder = call.path(words.pop(0).removeprefix("-chdir="))
    if len(words) != 3 or words[:2] != ["show", "-json"]:
        raise UsageError("Usage: tofu [global options] show [options] [path]")
    try:
        content = call.files.read(f"{folder}/{words[2]}", call.user)
    except FileError:
        call.complain(
            f"\nError: Failed to read the given file as a state or plan file\n\nState read error: "
            f"Error loading statefile: open {words[2]}: no such file or directory\n"
        )
        return 1
    shown = plan.shown(content)
    if shown is None:
        call.complain("\nError: Failed to read the given file as a state or plan file\n")
        return 1
    call.write(shown)
    return 0
