"""sudo 1.9, with `ubuntu ALL=(ALL) NOPASSWD: ALL` (handbook) unless a fault takes it away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.shell import SECURE_PATH
from lab.tools.call import split

if TYPE_CHECKING:
    from lab.tools.call import Call


async def sudo(call: Call) -> int:
    """`sudo [-n] [-u USER] COMMAND …`."""
    options = split(
        call.arguments,
        flags=("-n", "--non-interactive", "-E", "-H", "-i", "-l", "-v", "-k"),
        valued=("-u", "--user"),
        refuse="sudo: invalid option -- '{letter}'\nusage: sudo -h | -K | -k | -V",
        name="sudo",
        stop_at_first=True,
    )
    user = options.get("-u", "--user") or "root"
    quiet = "-n" in options or "--non-interactive" in options
    if not call.host.sudo and call.user != "root":
        call.complain(
            "sudo: a password is required"
            if quiet
            else "sudo: a terminal is required to read the password; either use the -S option to "
            "read from standard input or configure an askpass helper\nsudo: a password is required"
        )
        return 1
    accounts = call.files.read("/etc/passwd").decode().splitlines()
    if not any(line.startswith(f"{user}:") for line in accounts):
        call.complain(f"sudo: unknown user {user}")
        call.complain("sudo: error initializing audit plugin sudoers_audit")
        return 1
    if "-v" in options or "-k" in options or "-l" in options:
        if "-l" in options:
            call.say(f"User {call.user} may run the following commands on {call.host.name}:")
            call.say("    (ALL) NOPASSWD: ALL")
        return 0
    words = list(options.rest)
    changes: dict[str, str] = {}
    while words and "=" in words[0] and words[0].split("=")[0].isidentifier():
        key, _, value = words.pop(0).partition("=")
        changes[key] = value
    home = "/root" if user == "root" else f"/home/{user}"
    variables = {
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "PATH": SECURE_PATH,
        "LANG": "C.UTF-8",
        "SUDO_USER": call.user,
        **changes,
    }
    shell = call.shell.child(user=user, variables=variables, name="bash: line 1")
    if not words:
        return 1
    path = shell.find(words[0])
    if path is None:
        call.complain(f"sudo: {words[0]}: command not found")
        return 1
    return await shell.execute_path(path, words, call.streams)
