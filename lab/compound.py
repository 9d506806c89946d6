"""The commands that are made of others: groups, branches, loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.expansion import fields
from lab.redirects import opened
from lab.streams import Exit
from lab.syntax import For, Group, If, Simple

if TYPE_CHECKING:
    from lab.shell import Shell
    from lab.streams import Streams
    from lab.syntax import Command, Script, While

_LOOP_LIMIT = 10_000


async def run(shell: Shell, command: Command, streams: Streams) -> int:
    """Run any command; its exit status."""
    if isinstance(command, Simple):
        return await shell.run_simple(command, streams)
    if isinstance(command, Group):
        return await _group(shell, command, streams)
    if isinstance(command, If):
        return await _if(shell, command, streams)
    if isinstance(command, For):
        return await _for(shell, command, streams)
    return await _while(shell, command, streams)


async def _group(shell: Shell, group: Group, streams: Streams) -> int:
    inner = await opened(shell, group.redirects, streams)
    if inner is None:
        return 1
    within = shell.child() if group.subshell else shell
    try:
        rc = await within.run_script(group.body, inner.streams)
    except Exit as leave:
        if not group.subshell:
            raise
        rc = leave.rc
    inner.close(shell)
    return rc


async def _if(shell: Shell, branch: If, streams: Streams) -> int:
    for condition, body in branch.branches:
        if await _condition(shell, condition, streams) == 0:
            return await shell.run_script(body, streams)
    if branch.otherwise:
        return await shell.run_script(branch.otherwise, streams)
    return 0


async def _condition(shell: Shell, script: Script, streams: Streams) -> int:
    errexit, shell.errexit = shell.errexit, False
    try:
        return await shell.run_script(script, streams)
    finally:
        shell.errexit = errexit


async def _for(shell: Shell, loop: For, streams: Streams) -> int:
    rc = 0
    for value in await fields(shell, loop.words, streams):
        shell.variables[loop.name] = value
        rc = await shell.run_script(loop.body, streams)
    return rc


async def _while(shell: Shell, loop: While, streams: Streams) -> int:
    rc = 0
    for _ in range(_LOOP_LIMIT):
        if ((await _condition(shell, loop.condition, streams)) == 0) == loop.until:
            break
        rc = await shell.run_script(loop.body, streams)
    return rc
