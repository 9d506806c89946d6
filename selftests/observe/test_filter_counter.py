"""The counter of the reverse-path filter is read around the pings, and at rest where it grew."""

from __future__ import annotations

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.requests import Answer, HostCommand, Request
from fixtures.observe.kernel import Kernels
from selftests.gates.world import ROOT
from selftests.observe.answering import Answering
from selftests.observe.captured import Captured, like

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
(PING,) = like("ceph-way.out", r"^ping -n -c 3 -W 2 192.*# all is well$")


def counter(value: int) -> Captured:
    """What /proc/net/netstat says."""
    return Captured("", f"TcpExt: IPReversePathFilter\nTcpExt: {value}\n", "", 0)


class Counting(Answering):
    """The counter is another one at each look."""

    def __init__(self, *values: int) -> None:
        super().__init__({"ping": PING})
        self.values = list(values)

    def _answer(self, request: Request) -> Answer:
        assert isinstance(request, HostCommand)
        if "netstat" in request.command:
            self._captures = {request.command: counter(self.values.pop(0)), "ping": PING}
        return super()._answer(request)


@pytest.mark.parametrize(
    ("values", "at_rest"),
    [((7, 7), None), ((7, 10, 10), 0), ((7, 10, 14), 4)],
)
def test_it_is_watched_at_rest_only_where_it_grew(
    values: tuple[int, ...], at_rest: int | None
) -> None:
    asker = Counting(5, *values)  # the first is the batch's
    drops = Kernels(CLUSTER, asker).drops()
    assert (drops.before, drops.after, drops.at_rest) == (*values[:2], at_rest)
    assert all(not isinstance(echo.ping, str) for echo in drops.echoes)
    sent = [request.command for request in asker.asked if isinstance(request, HostCommand)]
    own = sent[1:]
    assert own[0].startswith("cat")
    assert [each.split()[0] for each in own[1:7]] == ["ping"] * 6
    assert own[7].startswith("cat")
    assert len(own) == 8 + (at_rest is not None)
    assert own[8:] == ["sleep 1 && cat /proc/net/netstat"] * (at_rest is not None)
