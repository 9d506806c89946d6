"""The second opinion about a drill's outage, and a suite run judged."""

from __future__ import annotations

import json
import ssl
from typing import TYPE_CHECKING, Any

import pytest

from machines import plan, suite, witness
from machines.errors import LabError
from machines.guest import supervisor, watch_api
from machines.pki import ClusterPki
from machines.witness import Request

if TYPE_CHECKING:
    from pathlib import Path


def _requests(answers: str, *, begin: float = 100.0) -> list[Request]:
    return [Request(begin + number / 10, answer == "+") for number, answer in enumerate(answers)]


@pytest.mark.parametrize(
    ("answers", "longest"),
    [("++++", 0.0), ("+--+", 0.2), ("+-++---+", 0.3), ("-+---++-+", 0.3)],
)
def test_an_outage_lasts_until_the_next_request_that_is_answered(
    answers: str, longest: float
) -> None:
    assert witness.longest_outage(_requests(answers), 100.0, 200.0) == pytest.approx(longest)


def test_only_the_drill_s_own_time_counts() -> None:
    requests = _requests("+-----+" + "+-+")
    assert witness.longest_outage(requests, 100.65, 101.0) == pytest.approx(0.1)


@pytest.mark.parametrize(("answers", "start"), [("", 100.0), ("++", 300.0), ("+-", 100.0)])
def test_requests_that_do_not_cover_the_drill_prove_nothing(answers: str, start: float) -> None:
    with pytest.raises(LabError, match="do not cover"):
        witness.longest_outage(_requests(answers), start, start + 100)


def test_a_record_may_end_in_mid_line(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.write_text('{"at": 2.0, "ready": false}\n{"at": 1.0, "ready": true}\n{"at": 3.')
    assert witness.read(record) == [Request(1.0, True), Request(2.0, False)]


def _drill(gate: str, begun: str, ended: str, longest: float) -> list[dict[str, Any]]:
    totals = {"combined": {"longest": longest}}
    return [
        {"kind": "step", "gate": gate, "step": "begin", "at": f"2026-11-30T16:05:{begun}Z"},
        {"kind": "sample", "gate": gate, "at": "2026-11-30T16:05:30.000Z", "how": "ok"},
        {"kind": "sample", "gate": gate, "at": f"2026-11-30T16:05:{ended}Z", "totals": totals},
    ]


def test_a_drill_is_read_from_the_apply_log() -> None:
    lines = [*_drill("C.5", "10.000", "40.500", 0.75), *_drill("C.6", "41.000", "50.000", 9.0)]
    start, end, longest = witness.drill_of(lines, "C.5")
    assert (end - start, longest) == (30.5, 0.75)
    with pytest.raises(LabError, match=r"no whole drill of F6-2"):
        witness.drill_of(lines, "F6-2")


def test_the_bastion_asks_with_certificates_and_tells_ready_from_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pki = ClusterPki()
    for path, content in pki.files(plan.CONTROL_PLANES[0]).items():
        if path.startswith("server/tls/") and path.count("/") == 2:
            (tmp_path / path.removeprefix("server/tls/")).write_text(content)
    monkeypatch.setattr(supervisor, "TLS", tmp_path)
    answering = supervisor.Supervisor("token", {}, port=0)
    answering.start()
    admin = pki.admin()
    told = {
        "ca": pki.server.pair.certificate,
        "certificate": admin.certificate,
        "key": admin.key,
    }
    context = watch_api.context_of(told, tmp_path)
    assert context.verify_mode is ssl.CERT_REQUIRED
    # It listens and answers 404: that is no `ok`.
    assert not watch_api.ask_once("127.0.0.1", answering.port, context)


def test_a_run_is_green_only_with_exit_0_and_every_verdict_allowed() -> None:
    good = suite.SuiteRun(0, {"C.5": "PASS", "P4": "ATTESTED"}, [], "")
    good.require("PASS", "ATTESTED")
    for run, allowed in (
        (good, ("PASS",)),
        (suite.SuiteRun(1, good.verdicts, [], ""), ("PASS", "ATTESTED")),
        (suite.SuiteRun(0, {}, [], ""), ("PASS",)),
    ):
        with pytest.raises(suite.UnexpectedError):
            run.require(*allowed)


def test_the_suite_s_run_is_read_from_the_lines_it_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / plan.CLUSTER / "apply-log.jsonl"
    log.parent.mkdir()
    log.write_text(json.dumps({"kind": "gate", "gate": "B.1", "verdict": "FAIL"}) + "\n")

    class Done:
        returncode = 0
        stdout = "printed"

    def pytest_run(argv: list[str], **_: object) -> Done:
        assert "--authorize=Somebody" in argv
        line = {"kind": "gate", "gate": "C.3", "node": "rke-cp01", "verdict": "PASS"}
        with log.open("a") as lines:
            lines.write(json.dumps(line) + "\n")
        return Done()

    monkeypatch.setattr(suite.network, "enter", lambda _: [])
    monkeypatch.setattr(suite.subprocess, "run", pytest_run)
    run = suite.run(
        ["-m", "gate_c", "--authorize=Somebody"], reports=tmp_path, output=tmp_path / "output"
    )
    assert run.verdicts == {"C.3[rke-cp01]": "PASS"}
    assert (tmp_path / "output").read_text() == "printed"
