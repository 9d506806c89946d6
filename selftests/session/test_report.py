"""The per-run report as pytest-html writes it, from whole runs against the embedded lab."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.applylog import anchors
from fixtures.applylog.courses import Course
from fixtures.applylog.drills import drill
from fixtures.gates import Phase
from selftests.passed import pass_all_before
from selftests.session.suite import log_lines, suite

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = r"""
name: output that attacks whoever reads it
expect: {B.2: UNKNOWN, B.4: UNKNOWN}
replies:
  - host: rke-cp01
    command: 'systemctl show .*keepalived'
    stdout: "</pre><script>document.title='owned'</script>\e[31m\u202e password=hunter2hunter2\n"
    stderr: "<img src=x onerror=\"document.title='owned'\"><svg onload=\"document.title='owned'\">"
"""

MEDDLE = """
import pytest
from fixtures.session.marks import gate_of

@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    if gate_of(item) and gate_of(item).id == "B.4":
        raise RuntimeError("teardown <script>document.title = 'owned'</script>")
"""

KILL = """
import os, signal
from fixtures.session.marks import gate_of

def pytest_runtest_call(item):
    if gate_of(item) and gate_of(item).id == "B.3":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass(frozen=True)
class Report:
    """One report: its file, its text, and what its script will make rows of."""

    path: Path
    page: str
    tests: dict[str, list[dict[str, Any]]]
    environment: dict[str, Any]

    @property
    def rows(self) -> dict[str, str]:
        """Verdict by the text of the gate and node cells."""
        cells = [
            [re.sub(r"<.*?>", "", cell) for cell in test["resultsTableRow"]]
            for tests in self.tests.values()
            for test in tests
        ]
        return {f"{row[0]}{row[2]}": row[1] for row in cells}

    def evidence(self, gate: str) -> str:
        """The details of the gate's row."""
        (test,) = (
            test
            for tests in self.tests.values()
            for test in tests
            if f">{gate}<" in test["resultsTableRow"][0]
        )
        return "".join(extra["content"] for extra in test["extras"])


def read(path: Path) -> Report:
    page = path.read_text()
    blob = re.search(r'data-jsonblob="(.*?)"', page)
    assert blob
    data = json.loads(html.unescape(blob[1]))
    return Report(path, page, data["tests"], data["environment"])


def meddled(folder: Path, source: str, *args: str, **more: str) -> None:
    (folder / "meddling.py").write_text(source)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    suite("--lab", "-p", "meddling", *args, PYTHONPATH=path, **more)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = pass_all_before(tmp_path_factory.mktemp("hostile"), Phase.B)
    (folder / "hostile.yaml").write_text(HOSTILE)
    meddled(
        folder,
        MEDDLE,
        "-m",
        "gate_b",
        f"--scenario={folder / 'hostile.yaml'}",
        f"--reports={folder}",
        BUILD_TAG="<script>document.title = 'owned'</script> password=hunter2hunter2",
    )
    (path,) = (folder / "lab").glob("2*-gate_b.html")
    return read(path)


def test_one_row_a_gate_with_its_final_verdict(report: Report) -> None:
    expected = {f"B.{number}": "PASS" for number in range(1, 9)}

    assert report.rows == {**expected, "B.2": "UNKNOWN", "B.4": "UNKNOWN"}
    assert all(len(tests) == 1 for tests in report.tests.values())


def test_a_red_row_shows_stop_and_evidence_with_the_streams_apart(report: Report) -> None:
    shown = report.evidence("B.2")

    assert "<b>STOP</b> — runbook, Validation gate B" in shown
    assert '<span class="host">rke-cp01</span>' in shown
    assert "keepalived.service</code>" in shown
    assert '<div class="stream stdout">' in shown
    assert '<div class="stream stderr">' in shown
    assert "STOP" not in report.evidence("B.3")


def test_hostile_output_is_text_in_every_part_of_the_page(report: Report) -> None:
    shown = "".join(report.evidence(f"B.{number}") for number in range(1, 9))
    written = json.dumps([report.tests, report.environment])

    assert "&lt;script&gt;document.title" in shown
    for part in (shown, written):
        assert "<script" not in part
        assert "<img" not in part
        assert "<svg" not in part
    assert not set("\x1b\u202e") & set(report.page)
    assert report.page.count("<script>") == 1


def test_no_secret_reaches_the_report(report: Report) -> None:
    assert "hunter2" not in report.page
    assert "hunter2" not in (report.path.parent / "apply-log.html").read_text()


def test_the_header_names_the_run(report: Report) -> None:
    (start,) = (line for line in log_lines(report.path.parents[1]) if line["kind"] == "run-start")

    assert start["report"] == report.path.name
    for value in (start["operator"], start["run"], start["inventory"], "rehearsal in the lab"):
        assert html.escape(value) in report.page
    assert "First bad observation: " in report.page
    assert "<b>Definition of Done</b>: 0 of 16 rows met" in html.unescape(report.page)


def test_the_report_is_private_and_remembers_the_log(report: Report) -> None:
    folder = report.path.parent

    assert stat.S_IMODE(report.path.stat().st_mode) == 0o600
    found = anchors.verify(folder)
    assert (found.problems, found.anchors) == ((), 2)


def test_the_next_start_writes_the_report_that_a_killed_run_could_not(tmp_path: Path) -> None:
    pass_all_before(tmp_path, Phase.B)
    meddled(tmp_path, KILL, "-m", "gate_b", f"--reports={tmp_path}")
    (start,) = (line for line in log_lines(tmp_path) if line["kind"] == "run-start")
    owed = tmp_path / "lab" / start["report"]
    assert not owed.exists()

    suite("--lab", "--gate=B.1", f"--reports={tmp_path}")

    page = owed.read_text()
    assert "This run had not written its end" in page
    assert ">B.2<" in page
    assert anchors.verify(tmp_path / "lab").problems == ()


def browse(page: Path, profile: Path) -> str:
    """The document after its scripts ran."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "chromium is not installed"
    options = (
        "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run "
        "--disable-component-update --disable-sync --virtual-time-budget=2000 --dump-dom"
    )
    done = subprocess.run(
        [chromium, *options.split(), f"--user-data-dir={profile}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


@pytest.mark.external
def test_no_script_of_a_host_runs_in_a_browser(report: Report, tmp_path: Path) -> None:
    for page in (report.path, report.path.parent / "apply-log.html"):
        document = browse(page, tmp_path)

        assert "<title" in document
        assert "owned</title>" not in document
        assert ">B.2<" in document
        assert "document.title" in document


@pytest.mark.external
def test_the_policy_stops_a_script_that_got_past_the_escaping(
    report: Report, tmp_path: Path
) -> None:
    attack = (
        "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    )
    policy = re.compile('<meta http-equiv="Content-Security-Policy".*?">')
    for source in (report.path.parent / "apply-log.html", report.path):
        attacked = source.read_text().replace("<body>", f"<body>{attack}", 1)
        page = tmp_path / "attacked.html"
        page.write_text(attacked)
        document = browse(page, tmp_path / "profile")
        assert "owned</title>" not in document
        assert ">B.2<" in document

        page.write_text(policy.sub("", attacked))
        assert "owned</title>" in browse(page, tmp_path / "profile")


@pytest.mark.external
def test_the_filters_come_with_the_script_and_hide_what_is_not_sought(
    report: Report, tmp_path: Path
) -> None:
    source = (report.path.parent / "apply-log.html").read_text()
    assert re.search('<div id="filter" class="filter" hidden>', source)
    shown = re.search(
        r"(\d+) of (\d+) gates shown", browse(report.path.parent / "apply-log.html", tmp_path)
    )
    assert shown
    assert shown[1] == shown[2]

    page = tmp_path / "searched.html"
    page.write_text(source.replace('id="filter-text"', 'id="filter-text" value="B.2 keepalived"'))
    some = re.search(r"(\d+) of (\d+) gates shown", browse(page, tmp_path))
    assert some
    assert 0 < int(some[1]) < int(some[2])


@pytest.mark.external
def test_a_timeline_runs_nothing_even_without_a_policy(tmp_path: Path) -> None:
    attack = "top.document.title='owned'; document.title='owned'"
    script = f'onload="{attack}"><script>{attack}</script>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {script}</svg>'
    (picture,) = drill(Course(None, ()), {"timeline": svg}, 100)
    page = tmp_path / "timeline.html"
    page.write_text(f"<title>mine</title><body>{picture}</body>")
    assert "<title>mine</title>" in browse(page, tmp_path / "profile")
    page.write_text(f"<title>mine</title><body>{svg}</body>")
    assert "owned</title>" in browse(page, tmp_path / "profile")
