"""`--ping`: reachable or why not, sudo, clocks."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import asyncssh
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.clock import Skew, measured_skew
from fixtures.core.requests import HostCommand, Output
from fixtures.remote.ping import ping
from selftests.remote.conftest import BASTION

if TYPE_CHECKING:
    from selftests.remote.conftest import Site
    from selftests.remote.hosts import SshHost


def healthy(host: SshHost, name: str, ahead: float = 0.0) -> None:
    host.answers = {
        "sudo -n true": (0, b"", b""),
        "cat /etc/machine-id": (0, b"0123456789abcdef\n", b""),
        "hostname": (0, name.encode() + b"\n", b""),
        "date -u +%s.%N": (0, f"{time.time() + ahead:.9f}\n".encode(), b""),
    }


@pytest.fixture
def up(site: Site) -> Site:
    healthy(site.bastion, BASTION)
    healthy(site.cp01, "rke-cp01")
    healthy(site.cp02, "rke-cp02")
    site.base_nodes(2)
    return site


def test_every_host_in_inventory_order(up: Site) -> None:
    asker = up.asker(command=20)
    hosts = list(ping(asker.cluster, asker))
    assert [host.name for host in hosts] == [BASTION, "rke-cp01", "rke-cp02"]
    assert all(host.ok for host in hosts)
    assert [host.hostname for host in hosts] == [BASTION, "rke-cp01", "rke-cp02"]
    assert {host.machine_id for host in hosts} == {"0123456789abcdef"}
    assert "reachable, sudo works; clock " in hosts[1].line
    assert asker.bastion.connections == 1


def test_what_is_wrong_is_said_host_by_host(up: Site) -> None:
    healthy(up.bastion, BASTION, ahead=-60)
    up.cp01.answers["sudo -n true"] = (1, b"", b"sudo: a password is required\n")
    up.cp01.answers["hostname"] = (0, b"rke-cp09\x1b[2J\n", b"")
    up.bastion.forwards["10.72.0.22", 22] = asyncssh.ChannelOpenError(
        asyncssh.OPEN_CONNECT_FAILED, "No route to host"
    )
    asker = up.asker(command=20)
    bastion, cp01, cp02 = ping(asker.cluster, asker)
    assert [bastion.ok, cp01.ok, cp02.ok] == [False, False, False]
    assert "more than 2 s" in bastion.line
    assert "sudo: a password is required" in cp01.line
    assert "calls itself" in cp01.line
    assert cp01.line.isprintable()
    assert "No route to host" in cp02.line
    assert cp02.skew is None


@given(st.floats(-1e6, 1e6), st.floats(0.001, 30))
def test_the_clock_is_compared_with_the_middle_of_the_round_trip(ahead: float, took: float) -> None:
    at = datetime(2026, 11, 30, 12, tzinfo=UTC)
    remote = at.timestamp() + took / 2 + ahead
    request = HostCommand(BASTION, "date -u +%s.%N", 5)
    answer = Output(request, 0, f"{remote:.9f}\n".encode(), b"", at, took)
    skew = measured_skew(answer)
    assert skew is not None
    assert abs(skew.ahead - ahead) < 1e-3
    assert skew.within == took / 2


@pytest.mark.parametrize("stdout", [b"", b"yesterday\n", b"12\n", b"\xff\n", b"1e9\n", b"nan\n"])
def test_what_is_no_time_is_none(stdout: bytes) -> None:
    request = HostCommand(BASTION, "date -u +%s.%N", 5)
    at = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert measured_skew(Output(request, 0, stdout, b"", at, 0.1)) is None


def test_a_skew_within_the_uncertainty_is_not_called_one() -> None:
    assert Skew(5.0, 0.1).beyond(2)
    assert Skew(-5.0, 0.1).beyond(2)
    assert not Skew(5.0, 4.0).beyond(2)
