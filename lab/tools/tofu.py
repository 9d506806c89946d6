"""tofu on ops01: what a saved plan holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import plan
from lab.filesystem import FileError
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.tools.call import Call


_NO_PLAN = """
Error: Failed to read the given file as a state or plan file

State read error: Error {state}

Plan read error: couldn't load the provided path as either a local plan file
({plan}) or a saved cloud plan ({plan})
"""


async def tofu(call: Call) -> int:
    """`tofu -chdir=FOLDER show -no-color -json PLAN`."""
    words = list(call.arguments)
    folder = call.path(".")
    if words and words[0].startswith("-chdir="):
        folder = call.path(words.pop(0).removeprefix("-chdir="))
    if len(words) != 4 or words[:3] != ["show", "-no-color", "-json"]:
        raise UsageError("Usage: tofu [global options] show [options] [path]")
    name = words[3]
    try:
        content = call.files.read(f"{folder}/{name}", call.user)
    except FileError:
        why = f"open {name}: no such file or directory"
        call.complain(_NO_PLAN.format(state=f"loading statefile: {why}", plan=why))
        return 1
    shown = plan.shown(content)
    if shown is None:
        state = f"reading {name} as a statefile: 2 problems"
        call.complain(_NO_PLAN.format(state=state, plan="zip: not a valid zip file"))
        return 1
    call.write(shown)
    return 0
