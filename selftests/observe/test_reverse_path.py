"""The gateway's counter of dropped packets is read around the very pings that F1.ping judges."""

from __future__ import annotations

from fixtures.observe.answers import Unknown
from fixtures.observe.echoes import Echoes, ask_plain
from fixtures.observe.kernel import Kernels
from selftests.gates.world import Reply, World, wetopi

NETSTAT = "TcpExt: SyncookiesSent IPReversePathFilter\nTcpExt: 0 {}\n"
COUNTER = "cat /proc/net/netstat"
PING = (
    "PING 192.168.96.10 (192.168.96.10) 56(84) bytes of data.\n\n"
    "--- 192.168.96.10 ping statistics ---\n"
    "3 packets transmitted, {} received, {}% packet loss, time 2003ms\n"
)


def test_the_counter_encloses_the_pings_that_are_judged() -> None:
    world = World(wetopi())
    gateway = world.cluster.gateway
    assert gateway is not None
    world.say(gateway.name, COUNTER, *(Reply(NETSTAT.format(n)) for n in (5, 7, 7)))
    for request in ask_plain(world.cluster):
        lost, good = Reply(PING.format(0, 100), rc=1), Reply(PING.format(3, 0))
        world.say(request.host, request.command, lost, good)
    kernels, echoes = Kernels(world.cluster, world), Echoes(world.cluster, world)
    # The phase's batch, at the end of which nobody knows what came first.
    world.ask([*Kernels.drops.requests(world.cluster), *ask_plain(world.cluster)])
    asked = len(world.sent)
    drops = kernels.drops()
    sent = [getattr(each, "command", "") for each in world.sent[asked:]]
    assert sent[0] == sent[-1] == COUNTER
    assert sorted(sent[1:-1]) == sorted(each.command for each in ask_plain(world.cluster))
    assert (drops.before, drops.after) == (7, 7)
    asked = len(world.sent)
    assert echoes.plain() == drops.echoes
    assert len(world.sent) == asked
    assert [each.ping.received for each in drops.echoes if not isinstance(each.ping, Unknown)] == (
        [3] * len(world.cluster.nodes)
    )
