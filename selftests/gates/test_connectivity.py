"""D2.connectivity: what a connectivity test proves, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.connectivity import everything_passed, told
from fixtures.observe.connectivity import Action, Reader, Report, Totals
from selftests.observe.connectivities import FAILED, OLD_FAILED, OLD_PASSED, PASSED

PLAIN = "no-policies"
ACROSS = Action(PLAIN, "pod-to-pod", "s/client-a", "s/echo-other-node-b")
GOOD = Report(
    rc=0,
    totals=(Totals(75, 0, 600, 40, 1),),
    tests=(PLAIN, "health"),
    scenarios=frozenset(
        {(PLAIN, "pod-to-pod"), (PLAIN, "pod-to-service"), (PLAIN, "pod-to-world")}
    ),
    actions=frozenset({ACROSS}),
    last="✅ all",
)


def read(text: str, rc: int) -> Report:
    reader = Reader()
    for line in text.splitlines():
        reader.line(line)
    return reader.report(rc)


def failing(*names: str) -> Report:
    totals = (Totals(75, len(names), 600, 40, 1),)
    return replace(GOOD, rc=1, totals=totals, failed=names, failed_actions=("first: rc 28",))


def test_success() -> None:
    assert everything_passed(GOOD) == ()
    assert everything_passed(read(PASSED, 0)) == ()
    by_cidr = {each for each in GOOD.scenarios if "world" not in each[1]} | {(PLAIN, "pod-to-cidr")}
    assert everything_passed(replace(GOOD, scenarios=frozenset(by_cidr))) == ()


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (
            failing("client-egress", "to-fqdns"),
            "2 of 75 connectivity tests failed: `client-egress`",
        ),
        (failing("a", "b", "c", "d", "e", "f", "g"), "`e` and 2 more"),
        (failing("check-log-errors"), "only that: it counts drops or log lines from before"),
        (failing("no-unexpected-packet-drops", "check-log-errors"), "may be run again"),
        (failing("no-unexpected-packet-drops", "health"), "the whole output is in the evidence"),
        (replace(failing("x"), rc=0), "1 of 75 connectivity tests failed"),
        (replace(failing("x"), failed=()), "the report does not name them"),
        (read(FAILED, 1), "2 of 77 connectivity tests failed: `client-egress-l7`"),
        (read(OLD_FAILED, 1), "1 of 11 connectivity tests failed: `no-policies`"),
        (replace(GOOD, totals=(Totals(0, 0, 0, 115, 0),)), "ran no test at all"),
        (replace(GOOD, single_node=True), "a single node"),
        (replace(GOOD, skipped=(("health", "skipped by user"),)), "a filter left out tests"),
        (replace(GOOD, skipped=((PLAIN, "skipped by condition"),)), "was skipped"),
        (replace(GOOD, scenarios=frozenset({("health", "x")})), "pod-to-pod was not tried"),
        (
            replace(GOOD, scenarios=GOOD.scenarios - {(PLAIN, "pod-to-service")}),
            "pod-to-service was not tried",
        ),
        (
            replace(GOOD, scenarios=GOOD.scenarios - {(PLAIN, "pod-to-world")}),
            "neither pod-to-world nor pod-to-cidr",
        ),
        (
            replace(GOOD, actions=frozenset({replace(ACROSS, destination="s/echo-same-node-c")})),
            "on one node only",
        ),
        (
            # What crosses nodes under a policy may have been meant to fail.
            replace(
                GOOD,
                scenarios=frozenset({("all-egress-deny", each) for _, each in GOOD.scenarios}),
            ),
            "pod-to-pod was not tried in no-policies",
        ),
    ],
)
def test_what_speaks_against_it(report: Report, text: str) -> None:
    assert text in "; ".join(everything_passed(report))


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (Report(rc=0), "without a report"),
        (Report(rc=1, last="Error: timeout reached waiting for deployment"), "timeout reached"),
        (Report(rc=124, tests=("a", "b")), "2 tests had begun, the last one `b`"),
        (Report(rc=137), "was killed"),
        (replace(GOOD, rc=1), "reports that all tests passed and ended with rc 1"),
        (replace(GOOD, scenarios=frozenset(), actions=frozenset()), "does not show what it tried"),
        (replace(GOOD, actions=frozenset()), "between which pods"),
        (read(OLD_PASSED, 0), "does not show what it tried"),
    ],
)
def test_what_does_not_decide(report: Report, text: str) -> None:
    with pytest.raises(Undecided, match=text):
        everything_passed(report)


HEADING = "📋 Test Report [cilium-test-2]"


@pytest.mark.parametrize(
    "also",
    [
        HEADING,
        f"{HEADING}\n❌ 1 test failed",
        "❌ [cilium-test-2] 1/3 tests failed",
        "\x1b[31m❌ [cilium-test-2] 1/3 tests failed, as never before\x1b[0m",
    ],
)
@pytest.mark.parametrize("rc", [0, 1])
def test_success_beside_a_report_that_cannot_be_read_is_none(also: str, rc: int) -> None:
    with pytest.raises(Undecided, match="cannot be read"):
        everything_passed(read(f"{PASSED}{also}\n", rc))


@pytest.mark.parametrize("end", [":", ""])
def test_success_of_one_namespace_does_not_hide_the_failure_of_another(end: str) -> None:
    counts = "1/3 tests failed (1/6 actions), 0 tests skipped, 0 scenarios skipped"
    (finding,) = everything_passed(read(f"{PASSED}{HEADING}\n❌ {counts}{end}\n", 0))
    assert finding.startswith("1 of 78 connectivity tests failed")


def test_the_record_has_every_test() -> None:
    record = told(read(FAILED, 1))
    assert record["tests"] == {
        "client-egress-l7": "failed",
        "check-log-errors": "passed",
        "to-fqdns-with-proxy": "failed",
    }
    assert (record["tests run"], record["tests failed"], record["actions"]) == (77, 2, 781)
    assert told(read(PASSED, 0))["tests"]["no-policies-from-outside"] == ("skipped (by condition)")
    assert told(Report(rc=124, tests=("a",)))["tests"] == {"a": "no report"}
