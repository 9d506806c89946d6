"""What asking costs on the wire: one connection, two round trips a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import Output
from selftests.remote.conftest import BASTION
from selftests.remote.sockets import Relay

if TYPE_CHECKING:
    from selftests.remote.conftest import Site

# Long against what both ends need to think, so that what they say in one go arrives in one go.
DELAY = 0.02


@pytest.mark.parametrize("host", [BASTION, "rke-cp01"])
def test_a_command_takes_two_round_trips(site: Site, host: str) -> None:
    relay = site.behind_relay(Relay(site.bastion.port, delay=DELAY))
    asker = site.asker(connect=10, command=10)
    site.ask(asker, "exit 0", host)
    relay.settle()
    before = relay.turns
    assert isinstance(site.ask(asker, "exit 1", host), Output)
    # The last word, the close of the session, is said and not waited for.
    assert relay.turns - before <= 3
