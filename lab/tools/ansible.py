"""ansible-playbook of the venv on ops01: its version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.operations import CHECKOUT
from lab.tools.call import UsageError

if TYPE_CHECKING:
    from lab.tools.call import Call


async def ansible_playbook(call: Call) -> int:
    """`ansible-playbook --version`."""
    if call.arguments != ("--version",):
        raise UsageError("usage: ansible-playbook [-h] [--version] …", 2)
    library = f"{CHECKOUT}/.venv/lib/python3.12/site-packages/ansible"
    call.say(f"ansible-playbook [core {call.world.operations.versions['ansible-core']}]")
    call.say("  config file = None")
    call.say(f"  ansible python module location = {library}")
    call.say(f"  executable location = {CHECKOUT}/.venv/bin/ansible-playbook")
    call.say("  python version = 3.12.3 (main, Aug 14 2026, 17:47:21) [GCC 13.3.0]")
    call.say("  jinja version = 3.1.6")
    return 0
