"""journalctl, minimal: the lines a healthy unit wrote when it started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.tools.call import split

if TYPE_CHECKING:
    from lab.tools.call import Call

_LINES = {
    "keepalived.service": (
        ("Keepalived_vrrp", "(VI_1) Entering BACKUP STATE (init)"),
        ("Keepalived_vrrp", "VRRP_Script(check_rke2_api) succeeded"),
    ),
    "rke2-server.service": (("rke2", 'level=info msg="rke2 is up and running"'),),
    "rke2-agent.service": (("rke2", 'level=info msg="rke2 agent is up and running"'),),
}


async def journalctl(call: Call) -> int:
    """`journalctl -u UNIT [-n N] [--no-pager]`."""
    options = split(
        call.arguments,
        flags=("--no-pager", "-q", "--quiet", "-r", "-e", "-b"),
        valued=("-u", "--unit", "-n", "--lines", "-o", "--since", "--until", "-p"),
        refuse="journalctl: invalid option -- '{letter}'",
        name="journalctl",
    )
    name = options.get("-u", "--unit") or ""
    name = name if not name or "." in name else f"{name}.service"
    unit = call.host.units.get(name)
    if unit is None or unit.started is None or name not in _LINES:
        call.say("-- No entries --")
        return 0
    when = f"{unit.started:%b %d %H:%M:%S}"
    lines = [f"{when} {call.host.name} systemd[1]: Started {name} - {unit.description}."]
    lines += [
        f"{when} {call.host.name} {program}[{unit.pid or 2301}]: {text}"
        for program, text in _LINES[name]
    ]
    count = int(options.get("-n", "--lines") or len(lines))
    for line in lines[-count:]:
        call.say(line)
    return 0
