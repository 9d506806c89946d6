"""What nslookup prints is read so that only answers are answers."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.dns import parse_nslookup
from selftests.observe.captured import Captured, captured

LOOKUPS = [
    each
    for file in ("dns.out", "dns2.out")
    for each in captured(file)
    if "nslookup" in each.command
]
# What the captured server has, and what it has not.
RECORDS = {
    "kubernetes": {"10.68.0.1"},
    "kubernetes.default": {"10.68.0.1"},
    "kubernetes.default.svc.cluster.local": {"10.68.0.1"},
    "dual.default.svc.cluster.local": {"10.68.0.9", "fd00::9"},
    "two.default.svc.cluster.local": {"10.68.0.21", "10.68.0.22"},
    "alias.default.svc.cluster.local": {"10.68.0.21", "10.68.0.22"},
    "headless.default.svc.cluster.local": {"10.64.1.5", "10.64.2.6", "10.64.3.7"},
}
OLD_BUSYBOX = """\
Server:    10.68.0.10
Address 1: 10.68.0.10 kube-dns.kube-system.svc.cluster.local

Name:      kubernetes.default
Address 1: 10.68.0.1 kubernetes.default.svc.cluster.local
"""


def name_in(capture: Captured) -> str:
    return capture.command.split()[-1].removesuffix(".")


@pytest.mark.parametrize("number", range(len(LOOKUPS)))
def test_real_answers(number: int) -> None:
    capture = LOOKUPS[number]
    text = capture.stdout.replace("^I", "\t")
    answers, errors = parse_nslookup(text, capture.stderr)
    found = {each.address for each in answers}
    if found:
        assert found == RECORDS[name_in(capture)]
    else:
        assert errors, capture
        unknown = ("nope", "timeout")
        short_in_busybox = capture.command.endswith("busybox nslookup kubernetes.default")
        assert any(word in capture.command for word in unknown) or short_in_busybox
    assert bool(errors) == bool(capture.rc)


def test_the_captures_are_all_read() -> None:
    assert len(LOOKUPS) == 28


def test_the_form_of_old_busybox() -> None:
    answers, errors = parse_nslookup(OLD_BUSYBOX, "nslookup: can't resolve '(null)': no name\n")
    assert [(each.name, each.address) for each in answers] == [("kubernetes.default", "10.68.0.1")]
    assert len(errors) == 1


SERVERS = st.sampled_from(
    [
        "Server:\t\t10.68.0.10\nAddress:\t10.68.0.10#53\n\n",
        "Server:\t\t10.68.0.10\nAddress:\t10.68.0.10:53\n\n",
        "Server:    10.68.0.10\nAddress 1: 10.68.0.10 kube-dns.kube-system.svc.cluster.local\n\n",
        "Server:    10.68.0.10\nAddress 1: 10.68.0.10\n\n",
        "Address: 10.68.0.10\n\n",
    ]
)
ERRORS = st.sampled_from(
    [
        "** server can't find x: NXDOMAIN\n",
        "*** Can't find x: No answer\n",
        ";; connection timed out; no servers could be reached\n",
        ";; communications error to 10.68.0.10#53: connection refused\n",
        "nslookup: can't resolve 'x'\n",
    ]
)
ADDRESSES = st.integers(0, 2**32 - 1).map(lambda number: str(IPv4Address(number)))


@given(
    SERVERS,
    st.lists(ERRORS, max_size=3),
    st.sampled_from(["", "\n", "Non-authoritative answer:\n"]),
)
def test_the_server_s_own_address_is_never_an_answer(
    server: str, errors: list[str], between: str
) -> None:
    answers, said = parse_nslookup(server + between + "".join(errors))
    assert answers == ()
    assert len(said) == len(errors)


@given(SERVERS, st.lists(ADDRESSES, min_size=1, max_size=4), st.booleans(), st.lists(ERRORS))
def test_every_answer_counts_in_its_order(
    server: str, addresses: list[str], numbered: bool, errors: list[str]
) -> None:
    rows = [
        f"Address {number}: {address} x.svc" if numbered else f"Address: {address}"
        for number, address in enumerate(addresses, start=1)
    ]
    block = "\n".join(["Name:\tx.", *rows])
    answers, said = parse_nslookup(f"{server}{block}\n{''.join(errors)}\n{server}")
    assert [each.address for each in answers] == addresses
    assert {each.name for each in answers} == {"x"}
    assert len(said) == len(errors)


def test_an_answer_that_is_no_address_is_refused() -> None:
    with pytest.raises(Misread):
        parse_nslookup("Name:\tx\nAddress: 10.68.0.1#53\n")
