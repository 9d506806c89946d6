"""Where SSH arguments jump first, as OpenSSH reads them: the first of two settings counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.ssh_jump import Hop, NoHop, hop_of
from selftests.observe.damage import quick

OPS = Hop("ubuntu", "192.0.2.1", None)
FORWARD = "ssh -i /opt/key -o IdentitiesOnly=yes -W %h:%p ubuntu@192.0.2.1"


@pytest.mark.parametrize(
    "arguments",
    [
        "-o ProxyJump=ubuntu@192.0.2.1",
        "-oProxyJump=ubuntu@192.0.2.1",
        "-o 'ProxyJump ubuntu@192.0.2.1'",
        '-o "proxyjump = ubuntu@192.0.2.1"',
        "-J ubuntu@192.0.2.1",
        "-Jubuntu@192.0.2.1",
        "-AJ ubuntu@192.0.2.1",
        "-i /opt/key -o StrictHostKeyChecking=yes -o ProxyJump=ubuntu@192.0.2.1 -q",
        "-o ProxyJump=ssh://ubuntu@192.0.2.1",
        f"-o ProxyCommand='{FORWARD}'",
        f'-o ProxyCommand="{FORWARD} -q"',
        "-o ProxyCommand='/usr/bin/ssh -qW %h:%p -l ubuntu 192.0.2.1'",
        # Whatever comes later does not count any more.
        "-o ProxyJump=ubuntu@192.0.2.1 -o ProxyJump=root@203.0.113.9",
        "-o ProxyJump=ubuntu@192.0.2.1 -o ProxyCommand=none",
    ],
)
def test_one_hop(arguments: str) -> None:
    assert hop_of(arguments) == OPS


@pytest.mark.parametrize(
    "arguments",
    [
        "-o ProxyJump=ubuntu@192.0.2.1:2222",
        "-J ssh://ubuntu@192.0.2.1:2222",
        "-o ProxyCommand='ssh -p 2222 -W %h:%p ubuntu@192.0.2.1'",
        "-o ProxyCommand='ssh -o Port=2222 -W %h:%p ubuntu@192.0.2.1'",
        "-o ProxyCommand='ssh -W %h:%p ubuntu@192.0.2.1 -o \"Port 2222\" -p 22'",
        "-o ProxyCommand='ssh -W %h:%p -p 2222 ssh://ubuntu@192.0.2.1:22'",
        "-o ProxyCommand='ssh -W %h:%p ssh://ubuntu@192.0.2.1:2222 -p 22'",
    ],
)
def test_a_hop_with_a_port(arguments: str) -> None:
    assert hop_of(arguments) == Hop("ubuntu", "192.0.2.1", 2222)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("", "name no jump at all"),
        ("-i /opt/-J -o User=ubuntu@192.0.2.1", "name no jump at all"),
        ("-i -Jubuntu@192.0.2.1", "name no jump at all"),
        # The first word would be the host, and a HostName its address.
        ("203.0.113.9 -J ubuntu@192.0.2.1", "another host"),
        ("-- -J ubuntu@192.0.2.1", "another host"),
        ("-J ubuntu@192.0.2.1 -o HostName=203.0.113.9", "another host"),
        ("-o 'hostname 203.0.113.9' -J ubuntu@192.0.2.1", "another host"),
        (f"-o ProxyCommand='{FORWARD} -o HostName=203.0.113.9'", "not ssh -W"),
        ("-o ProxyJump=none -o ProxyJump=ubuntu@192.0.2.1", "no user and host"),
        ("-o ProxyCommand=none -o ProxyJump=ubuntu@192.0.2.1", "not ssh -W"),
        ("-o ProxyJump=root@203.0.113.9,ubuntu@192.0.2.1", "several hosts"),
        ("-o ProxyJump=192.0.2.1", "no user and host"),
        ("-o ProxyJump=", "no user and host"),
        ("-J", "no user and host"),
        ("-o", "name no jump at all"),
        ("-o 'ProxyJump=ubuntu@192.0.2.1", "do not match"),
        ("-o ProxyCommand='nc -X 5 %h %p ubuntu@192.0.2.1'", "not ssh -W"),
        ("-o ProxyCommand='ssh ubuntu@192.0.2.1 nc %h %p'", "not ssh -W"),
        ("-o ProxyCommand='ssh -W 10.0.0.1:22 ubuntu@192.0.2.1'", "not ssh -W"),
        ("-o ProxyCommand='ssh -W %h:%p ubuntu@192.0.2.1 reboot'", "not ssh -W"),
        ("-o ProxyCommand='ssh -J root@203.0.113.9 -W %h:%p ubuntu@192.0.2.1'", "several hosts"),
        ("-o ProxyCommand='ssh -p ssh -W %h:%p ubuntu@192.0.2.1'", "not ssh -W"),
        ("-o ProxyCommand='ssh -W %h:%p ubuntu@192.0.2.1:22'", "part of the host's name"),
        ("-o ProxyCommand='sh -c \"ssh -W %h:%p ubuntu@192.0.2.1\"'", "not ssh -W"),
    ],
)
def test_no_hop_or_another_one(arguments: str, why: str) -> None:
    with pytest.raises(NoHop, match=why):
        hop_of(arguments)


@pytest.mark.parametrize(
    "command",
    [
        "ssh -l root -W %h:%p ubuntu@192.0.2.1",
        "ssh -o User=root -W %h:%p ubuntu@192.0.2.1",
        "ssh -W %h:%p 192.0.2.1 -o User=root -l ubuntu",
        "ssh -W %h:%p root@192.0.2.1 -l ubuntu",
    ],
)
def test_of_two_users_the_first_counts(command: str) -> None:
    assert hop_of(f"-o ProxyCommand='{command}'") == Hop("root", "192.0.2.1", None)


def test_another_hop_is_another_hop() -> None:
    assert hop_of("-o ProxyJump=root@203.0.113.9 -J ubuntu@192.0.2.1") == Hop(
        "root", "203.0.113.9", None
    )


@quick
@given(st.text(alphabet="-oJiWlp =ssh%:@,'\"\\u0/. ProxyJmCand", max_size=60))
def test_any_arguments_are_read_or_refused(arguments: str) -> None:
    for text in (arguments, f"-o ProxyCommand={arguments}", f"-o ProxyCommand='ssh {arguments}'"):
        try:
            hop_of(text)
        except NoHop:
            continue
