"""The lab's `cilium connectivity test`, run as the suite runs it and read as the suite reads it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.verdicts import Undecided
from fixtures.judge.connectivity import everything_passed
from fixtures.observe.connectivity import Reader, Report, command
from selftests.lab.running import lab_at, run
from selftests.scenarios.replay import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from selftests.lab.running import Running

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")
SPACES = {"cilium-test-1", "cilium-test-ccnp1", "cilium-test-ccnp2"}


async def followed(lab: Running, limit: float = 30.0) -> tuple[Report, list[float]]:
    """The report, and when its lines came."""
    limits = replace(CLUSTER.limits, connectivity_test=limit, connectivity_end=1.0)
    line = command(replace(CLUSTER, limits=limits)).command
    reader, came = Reader(), list[float]()
    async with lab.bastion.create_process(line) as process:
        async for text in process.stdout:
            reader.line(text.rstrip("\n"))
            came.append(time.monotonic())
        for text in (await process.stderr.read()).splitlines():
            reader.line(text)
        await process.wait()
        assert process.returncode is not None
        return reader.report(process.returncode), came


def decided(reports: Path, *faults: tuple[str, object]) -> tuple[str, str, Report]:
    found: list[Report] = []

    async def test() -> None:
        async with lab_at(reports, "d2", *faults) as lab:
            found.append((await followed(lab))[0])
            log = next((reports / ".lab" / "runs").glob("*/commands.jsonl")).read_text()
            assert '"known": false' not in log

    run(test())
    (report,) = found
    try:
        findings = everything_passed(report)
    except Undecided as undecided:
        return "UNKNOWN", str(undecided), report
    return ("FAIL" if findings else "PASS"), "; ".join(findings), report


def test_it_passes_line_by_line_and_leaves_its_namespaces(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "d2") as lab:
            report, came = await followed(lab)
            assert everything_passed(report) == ()
            assert report.totals[0].tests == len(report.tests) == 23
            assert len(report.skipped) == report.totals[0].skipped == 7
            assert came[-1] - came[0] > 0.15
            names = {item["metadata"]["name"] for item in lab.lab.world.objects.each("Namespace")}
            assert names >= SPACES
            again, _ = await followed(lab)
            assert everything_passed(again) == ()

    run(test(), limit=30)


@pytest.mark.parametrize(
    ("fault", "verdict", "text"),
    [
        (("connectivity-fails", ["client-egress"]), "FAIL", "1 of 23 connectivity tests failed"),
        (("connectivity-fails", ["check-log-errors"]), "FAIL", "only that: it counts drops or log"),
        (("connectivity-filtered", None), "FAIL", "ran no test at all"),
        (("connectivity-filtered", ["health"]), "FAIL", "a filter left out tests: `health`"),
        (("connectivity-single-node", None), "FAIL", "a single node"),
        (("connectivity-skips", ["no-policies"]), "FAIL", "was skipped: `skipped by condition`"),
        (("connectivity-without", ["pod-to-world", "pod-to-cidr"]), "FAIL", "no way out is proved"),
        (("connectivity-without", ["pod-to-world"]), "PASS", ""),
        (("connectivity-without", ["pod-to-service"]), "FAIL", "pod-to-service was not tried"),
        (("connectivity-killed", "echo-ingress"), "UNKNOWN", "was killed, as it did not"),
        (("connectivity-silent", None), "UNKNOWN", "does not show what it tried"),
        (("connectivity-old", None), "UNKNOWN", "without a report"),
        (("connectivity-retries", None), "PASS", ""),
        (("vip-held-by", []), "UNKNOWN", "connect: no route to host"),
    ],
)
def test_what_goes_wrong(
    tmp_path: Path, fault: tuple[str, object], verdict: str, text: str
) -> None:
    found, why, _ = decided(tmp_path, fault)
    assert (found, text in why) == (verdict, True), why


def test_one_that_hangs_is_stopped_by_its_own_limit(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "d2", ("connectivity-hangs", "echo-ingress")) as lab:
            report, _ = await followed(lab, limit=1.5)
            assert report.rc == 124
            with pytest.raises(Undecided, match="the last one `echo-ingress`"):
                everything_passed(report)

    run(test())


def test_pods_that_never_run_are_no_answer(tmp_path: Path) -> None:
    async def test() -> None:
        async with lab_at(tmp_path, "d2") as lab:
            lab.lab.world.trouble.unpullable.append("alpine-curl")
            report, _ = await followed(lab)
            assert report.rc == 1
            with pytest.raises(Undecided, match="waiting for deployment cilium-test-1/client to"):
                everything_passed(report)

    run(test())
