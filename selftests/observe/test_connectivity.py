"""The report of a connectivity test is read as the CLI words it, whatever stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.connectivity import Action, Reader, Report, Totals
from selftests.observe.connectivities import (
    FAILED,
    OLD_FAILED,
    OLD_PASSED,
    PASSED,
    SINGLE_NODE,
    SPURIOUS,
)


def read(text: str, rc: int = 0) -> Report:
    reader = Reader()
    for line in text.split("\n"):
        reader.line(line)
    return reader.report(rc)


def test_a_report_of_success() -> None:
    report = read(PASSED)
    assert report.totals == (Totals(75, 0, 600, 40, 1),)
    assert report.tests == ("no-policies", "client-egress-knp")
    assert report.skipped == (("no-policies-from-outside", "skipped by condition"),)
    assert (report.failed, report.single_node) == ((), False)
    assert ("no-policies", "pod-to-service") in report.scenarios
    assert Action(
        "no-policies",
        "pod-to-pod",
        "cilium-test-1/client-645b68dcf7-w7kcn",
        "cilium-test-1/echo-other-node-689b8c9477-rvkw4",
    ) in (report.actions)
    (warning,) = report.warned
    assert "Unable to contact Hubble Relay" in warning


def test_a_report_of_failure_names_tests_and_actions() -> None:
    report = read(FAILED, 1)
    assert report.totals == (Totals(77, 2, 781, 46, 2),)
    assert report.failed == ("client-egress-l7", "to-fqdns-with-proxy")
    assert report.failed_actions[0].startswith("client-egress-l7/pod-to-world:http-to-one")
    assert report.last == "[cilium-test-1] 2 tests failed"


def test_the_words_of_earlier_releases() -> None:
    assert read(OLD_PASSED).totals == (Totals(45, 0, 191, 3, 1),)
    report = read(OLD_FAILED, 1)
    assert report.totals == (Totals(11, 1, 128, 0, 0),)
    assert report.failed == ("no-policies",)
    assert {action.scenario for action in report.actions} == {"pod-to-world"}


def test_signs_of_failure_before_the_report_are_no_failures() -> None:
    report = read(SPURIOUS)
    assert (report.failed, report.failed_actions) == ((), ())
    assert report.totals == (Totals(1, 0, 2, 0, 0),)


def test_a_single_node() -> None:
    assert read(SINGLE_NODE).single_node
    assert not read(f"  agent log: {SINGLE_NODE}").single_node


@pytest.mark.parametrize("text", [PASSED, FAILED, OLD_PASSED, OLD_FAILED])
@pytest.mark.parametrize(
    ("before", "after"),
    [("", "\r"), ("\x1b[32m", "\x1b[0m"), ("....", ""), ("\x1b[1;31m.\x1b[K", "\r\r")],
)
def test_colours_dots_and_carriage_returns_change_nothing(
    text: str, before: str, after: str
) -> None:
    dressed = "\n".join(f"{before}{line}{after}" for line in text.split("\n"))
    assert read(dressed) == read(text)


def test_progress_in_a_few_words() -> None:
    reader = Reader()
    said = []
    for line in PASSED.split("\n"):
        reader.line(line)
        said.append(reader.now)
    assert list(dict.fromkeys(said)) == [
        "is being started",
        "[default] Creating namespace cilium-test-1 for connectivity check...",
        "[default] Waiting for deployment cilium-test-1/client to become ready...",
        "Enabling Hubble telescope...",
        "115 tests begin",
        "test 1 of 115: no-policies",
        "test 23 of 115: client-egress-knp",
    ]


def test_addresses_of_ipv6_are_no_hindrance() -> None:
    report = read(
        "[.] Action [no-policies/pod-to-pod/curl-ipv6-0: cilium-test-1/client-a (fd00::1) -> "
        "cilium-test-1/echo-other-node-b (fd00::2:8080)]"
    )
    (action,) = report.actions
    assert action.destination == "cilium-test-1/echo-other-node-b"


@given(st.lists(st.text(max_size=40) | st.sampled_from(PASSED.split("\n")), max_size=20))
def test_no_line_is_an_error(lines: list[str]) -> None:
    read("\n".join(lines))


@given(st.integers(0, len(PASSED)), st.integers(0, len(FAILED)))
def test_a_report_that_is_cut_counts_nothing_it_does_not_say(first: int, second: int) -> None:
    assert read(PASSED[:first]).totals in {(), (Totals(75, 0, 600, 40, 1),)}
    assert len(read(FAILED[:second]).totals) <= 1


@given(st.text(alphabet="[]()/:→->. ax", min_size=1, max_size=30))
def test_hostile_names_reach_the_report_as_they_are(name: str) -> None:
    report = read(f"[=] [cilium-test-1] Test [{name}] [1/2]\n")
    if "]" not in name:
        assert report.tests == (name,)
