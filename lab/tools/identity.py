"""Small programs about who and where one is, and those that only print or return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.tools.call import UsageError, quoted, split
from lab.tools.ip import addresses_of

if TYPE_CHECKING:
    from lab.tools.call import Call

_IDS = {"root": 0, "ubuntu": 1000, "nobody": 65534, "keepalived_script": 997}
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "r": "\r", "0": "\0", "e": "\x1b"}


async def true_(_call: Call) -> int:
    """`true`."""
    return 0


async def false_(_call: Call) -> int:
    """`false`."""
    return 1


async def echo(call: Call) -> int:
    """`echo [-n] [-e] WORDS…`."""
    words = list(call.arguments)
    newline, escapes = True, False
    while words and words[0] in ("-n", "-e", "-ne", "-en", "-E"):
        flag = words.pop(0)
        newline = newline and "n" not in flag
        escapes = escapes or "e" in flag
    text = " ".join(words)
    call.write((_unescaped(text) if escapes else text) + ("\n" if newline else ""))
    return 0


async def printf(call: Call) -> int:
    """`printf FORMAT WORDS…` with %s, %d and escapes."""
    if not call.arguments:
        raise UsageError("printf: missing operand")
    pattern, words = _unescaped(call.arguments[0]), list(call.arguments[1:])
    while True:
        before = len(words)
        text, rest = "", pattern
        while "%" in rest:
            head, _, rest = rest.partition("%")
            text += head
            directive, rest = rest[:1], rest[1:]
            if directive == "%":
                text += "%"
            elif directive in ("s", "d"):
                text += words.pop(0) if words else "" if directive == "s" else "0"
            else:
                raise UsageError(f"printf: %{directive}: invalid directive")
        call.write(text + rest)
        if not words or len(words) == before:
            return 0


async def whoami(call: Call) -> int:
    """`whoami`."""
    call.say(call.user)
    return 0


async def id(call: Call) -> int:  # noqa: A001
    """`id [-u|-un|-g|-gn] [USER]`."""
    options = split(call.arguments, flags=("-u", "-n", "-g", "-G"), name="id")
    user = options.rest[0] if options.rest else call.user
    if user not in _IDS:
        call.complain(f"id: {quoted(user)}: no such user")
        return 1
    number = _IDS[user]
    if "-u" in options or "-g" in options:
        call.say(user if "-n" in options else str(number))
        return 0
    groups = ",27(sudo)" if user == "ubuntu" else ""
    call.say(f"uid={number}({user}) gid={number}({user}) groups={number}({user}){groups}")
    return 0


async def hostname(call: Call) -> int:
    """`hostname [-s|-f|-I]`."""
    options = split(
        call.arguments,
        flags=("-s", "-f", "-I", "--short", "--fqdn"),
        name="hostname",
        refuse="hostname: invalid option -- '{letter}'",
        rc=255,
    )
    if "-I" in options:
        found = [address.address for address in addresses_of(call.world, call.host)]
        call.say(" ".join(found[1:]) + " ")
        return 0
    call.say(call.host.name)
    return 0


async def uname(call: Call) -> int:
    """`uname [-a|-r|-n|-s|-m]`."""
    options = split(call.arguments, flags=("-a", "-r", "-n", "-s", "-m"), name="uname")
    parts = {
        "-s": "Linux",
        "-n": call.host.name,
        "-r": "6.8.0-60-generic",
        "-m": "x86_64",
    }
    if "-a" in options:
        call.say(f"Linux {call.host.name} 6.8.0-60-generic #63-Ubuntu SMP x86_64 GNU/Linux")
        return 0
    call.say(" ".join(text for flag, text in parts.items() if flag in options) or "Linux")
    return 0


async def env(call: Call) -> int:
    """`env [NAME=VALUE…] [COMMAND …]`."""
    words = list(call.arguments)
    variables = dict(call.shell.variables)
    while words and "=" in words[0]:
        key, _, value = words.pop(0).partition("=")
        variables[key] = value
    if not words:
        call.write("".join(f"{key}={value}\n" for key, value in variables.items()))
        return 0
    shell = call.shell.child(variables=variables)
    path = shell.find(words[0])
    if path is None:
        call.complain(f"env: {quoted(words[0])}: No such file or directory")
        return 127
    return await shell.execute_path(path, words, call.streams)


async def which(call: Call) -> int:
    """`which NAMES…`."""
    rc = 0
    for name in call.arguments:
        path = call.shell.find(name)
        if path:
            call.say(path)
        else:
            rc = 1
    return rc


async def getent(call: Call) -> int:
    """`getent passwd|group|hosts [KEY]`; 2 when the key is not there."""
    if not call.arguments:
        raise UsageError("getent: wrong number of arguments")
    database, keys = call.arguments[0], call.arguments[1:]
    if database not in ("passwd", "group", "hosts"):
        call.complain(f"Unknown database: {database}")
        raise UsageError("Try `getent --help' or `getent --usage' for more information.")
    lines = call.files.read(f"/etc/{database}").decode().splitlines()
    if not keys:
        call.write("".join(f"{line}\n" for line in lines))
        return 0
    rc = 0
    for key in keys:
        found = [line for line in lines if _matches(database, line, key)]
        call.write("".join(f"{line}\n" for line in found))
        rc = rc if found else 2
    return rc


def _matches(database: str, line: str, key: str) -> bool:
    if database == "hosts":
        return key in line.split()
    fields = line.split(":")
    return key in (fields[0], fields[2])


def _unescaped(text: str) -> str:
    result, characters = "", iter(text)
    for character in characters:
        if character == "\\":
            following = next(characters, "\\")
            result += _ESCAPES.get(following, "\\" + following)
        else:
            result += character
    return result
