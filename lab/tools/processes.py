"""ss and pgrep: who listens, and what runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.tools.call import UsageError, split
from lab.world import LISTENERS

if TYPE_CHECKING:
    from lab.tools.call import Call

_ETCD = "etcd --config-file=/var/lib/rancher/rke2/server/db/etcd/config"
# The processes of a node as the process table shows them.
_COMMANDS = {
    "etcd": (3011, _ETCD),
    "kube-apiserver": (3102, "kube-apiserver --advertise-address={address} --anonymous-auth=false"),
    "kube-controller-manager": (3160, "kube-controller-manager --allocate-node-cidrs=true"),
    "kube-scheduler": (3187, "kube-scheduler --bind-address=127.0.0.1"),
    "kubelet": (2960, "kubelet --node-ip={address} --read-only-port=0"),
    "containerd": (2931, "containerd -c /var/lib/rancher/rke2/agent/etc/containerd/config.toml"),
    "supervisor": (2877, "/usr/local/bin/rke2 server"),
    "kube-proxy": (3240, "kube-proxy --cluster-cidr=10.64.0.0/14"),
}
# etcd listens on loopback and the node's own address, the others on every address.
_BOUND = frozenset({"etcd"})


async def ss(call: Call) -> int:
    """`ss -Hltn ['( sport = :A or sport = :B )']`."""
    options = split(
        call.arguments,
        flags=("-H", "-l", "-t", "-n", "-p", "-4"),
        name="ss",
        refuse="ss: invalid option -- '{letter}'",
    )
    if {"-l", "-t", "-n"} - set(options.values):
        raise UsageError("ss: the lab lists with -ltn only")
    wanted = _ports(" ".join(options.rest))
    if "-H" not in options:
        call.say("State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess")
    rows = [("*", 22)]
    for port, process in sorted(LISTENERS.items()):
        if process in call.host.processes:
            bound = process in _BOUND
            own = call.host.machine.address
            rows += [(address, port) for address in (("127.0.0.1", own) if bound else ("*",))]
    for address, port in rows:
        if wanted is None or port in wanted:
            peer = "*:*" if address == "*" else "0.0.0.0:*"
            call.say(f"LISTEN 0      4096   {f'{address}:{port}':>18} {peer:>13}")
    return 0


def _ports(text: str) -> set[int] | None:
    if not text:
        return None
    terms = [term.strip() for term in text.strip("() ").split(" or ")]
    found = [re.fullmatch(r"sport = :(\d+)", term) for term in terms]
    if not all(found):
        raise UsageError('ss: bison bellows (while parsing filter): "syntax error!"')
    return {int(match.group(1)) for match in found if match}


async def pgrep(call: Call) -> int:
    """`pgrep [-a] [-x] [-f] PATTERN`: 1 when nothing matches."""
    options = split(
        call.arguments,
        flags=("-a", "-x", "-f", "-l"),
        name="pgrep",
        refuse="pgrep: invalid option -- '{letter}'",
        rc=2,
    )
    if len(options.rest) != 1:
        raise UsageError("pgrep: no matching criteria specified", 2)
    pattern = re.compile(options.rest[0])
    rc = 1
    for process in sorted(call.host.processes & set(_COMMANDS)):
        pid, command = _COMMANDS[process]
        line = command.format(address=call.host.machine.address)
        name = line.split()[0].rpartition("/")[2][:15]
        text = line if "-f" in options else name
        if not (pattern.fullmatch(text) if "-x" in options else pattern.search(text)):
            continue
        shown = f" {line}" if "-a" in options else f" {name}" if "-l" in options else ""
        call.say(f"{pid}{shown}")
        rc = 0
    return rc
