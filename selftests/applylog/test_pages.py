from __future__ import annotations

import re
import stat
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from fixtures.applylog import anchors, done, history, pages, render
from fixtures.applylog.errors import LedgerError
from fixtures.applylog.exhibits import cap_for, duration
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.page import Rendering, digest, source
from fixtures.applylog.record import EMPTY, GateRecord, Kind, Line
from fixtures.core.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.applylog.canonical import JSON

    MakeRecord = Callable[..., GateRecord]
    Decide = Callable[..., None]

AT = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
IDENTITY = "ab" * 32
EVIL = "</pre></details><script>alert(1)</script>\x1b[31m\u202e'\"&<img src=x onerror=alert(1)>"
VOID = {"meta", "img", "input"}


class Structure(HTMLParser):
    """Checks nesting, and gathers elements and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def entry(**changes: JSON) -> dict[str, JSON]:
    held: dict[str, JSON] = {
        "host": "rke-cp01",
        "command": "ip addr",
        "rc": 1,
        "stdout": "the stdout",
        "stderr": "the stderr",
        "seconds": 0.1,
    }
    return {**held, **changes}


def write(ledger: Ledger, record: GateRecord) -> None:
    ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())


def start(ledger: Ledger, **fields: JSON) -> None:
    held: dict[str, JSON] = {"cluster": "lab", "mode": "lab", "operator": "anna"}
    ledger.append(Kind.RUN_START, **{**held, **fields})
    ledger.append(Kind.IDENTITY, identity=IDENTITY)


def page_of(ledger: Ledger, *, run: bool = False) -> str:
    path = (
        render.one_run(ledger.folder, ledger.run, AT)
        if run
        else render.cumulative(ledger.folder, AT)
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return path.read_text()


@pytest.mark.parametrize("run", [True, False])
def test_a_red_gate_shows_its_stop_and_its_evidence(
    ledger: Ledger, make_record: MakeRecord, *, run: bool
) -> None:
    start(ledger)
    record = make_record("C.1", Verdict.FAIL, summary="two members", evidence=[entry()])
    write(ledger, record)

    found = Structure(page_of(ledger, run=run))

    for part in ("First bad observation: C.1 FAIL: two members", "STOP", "the runbook's STOP"):
        assert part in found.text
    for part in ("$ ip addr", "rc 1", "the stdout", "the stderr", "Validation gate C", "500 ms"):
        assert part in found.text
    details = [attrs for tag, attrs in found.seen if tag == "details"]
    assert "open" in next(attrs for attrs in details if attrs["class"] == "gate FAIL")


def test_the_last_answer_to_a_question_stands_before_earlier_ones(
    ledger: Ledger, make_record: MakeRecord
) -> None:
    start(ledger)
    tries = [entry(stdout=f"try {number}") for number in range(3)]
    other = entry(host="rke-cp02", stdout="asked once")
    write(ledger, make_record("B.3", Verdict.FAIL, evidence=[other, *tries]))

    text = Structure(page_of(ledger, run=True)).text

    places = [text.index(part) for part in ("asked once", "try 2", "2 earlier", "try 0", "try 1")]
    assert places == sorted(places)


def test_a_green_gate_is_closed_and_shows_no_stop(ledger: Ledger, make_record: MakeRecord) -> None:
    start(ledger)
    write(ledger, make_record("C.1", evidence=[entry(rc=0)]))

    found = Structure(page_of(ledger, run=True))

    assert "STOP" not in found.text
    gate = next(attrs for tag, attrs in found.seen if attrs.get("class") == "gate PASS")
    assert "open" not in gate


@pytest.mark.parametrize("run", [True, False])
def test_hostile_text_stays_text(ledger: Ledger, make_record: MakeRecord, *, run: bool) -> None:
    start(ledger, cluster=EVIL, operator=EVIL, command=EVIL, mode=EVIL, gates=[EVIL])
    ledger.append(Kind.STEP, **{EVIL: EVIL})
    cut = [{"stream": "stdout", "file": "evidence/../../../etc/passwd", "bytes": 1, "sha256": EVIL}]
    evidence = [
        entry(host=EVIL, command=EVIL, stdout=EVIL, stderr=EVIL, rc=EVIL, cut=cut),
        {"host": EVIL, "request": EVIL, "status": EVIL, "body": EVIL, "refused": EVIL},
    ]
    record = make_record(
        f"B.1[{EVIL}", Verdict.FAIL, summary=EVIL, facts={EVIL: EVIL}, evidence=evidence, stop=EVIL
    )
    write(ledger, record)
    write(ledger, make_record(EVIL, Verdict.UNKNOWN, summary=EVIL))

    page = page_of(ledger, run=run)
    found = Structure(page)

    tags = {tag for tag, _ in found.seen}
    assert not tags & {"img", "iframe", "link", "object", "svg"}
    assert re.findall("<script>(.*?)</script>", page, re.DOTALL) == (
        [] if run else [source("filters.js")]
    )
    assert all(not name.startswith("on") for _, attrs in found.seen for name in attrs)
    assert {attrs["href"] for tag, attrs in found.seen if tag == "a"} <= {
        attrs["href"] for _, attrs in found.seen if str(attrs.get("href", "")).startswith("#")
    }
    assert "\x1b" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("run", [True, False])
def test_pages_are_self_contained_and_allow_only_our_script(
    ledger: Ledger, make_record: MakeRecord, *, run: bool
) -> None:
    start(ledger)
    write(ledger, make_record("B.1"))
    page = page_of(ledger, run=run)

    (policy,) = (
        str(attrs["content"])
        for _, attrs in Structure(page).seen
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert allowed.pop("style-src") == digest(source("style.css"))
    assert allowed.pop("script-src", None) == (None if run else digest(source("filters.js")))
    assert allowed.pop("img-src") == "data:"
    assert set(allowed.values()) == {"'none'"}
    assert not re.search(r"url\(|@import|src=", page)


def test_a_page_remembers_the_log(ledger: Ledger, make_record: MakeRecord) -> None:
    start(ledger)
    write(ledger, make_record("B.1"))
    page_of(ledger)

    assert anchors.verify(ledger.folder).anchors == 1


def test_a_whole_stream_is_linked(ledger: Ledger, make_record: MakeRecord) -> None:
    start(ledger)
    file = f"evidence/{'ab' * 32}.txt"
    cut: list[JSON] = [{"stream": "stdout", "file": file, "bytes": 1, "sha256": "ab" * 32}]
    write(ledger, make_record("B.1", evidence=[entry(cut=cut)]))

    found = Structure(page_of(ledger))
    links = [str(attrs["href"]) for tag, attrs in found.seen if tag == "a"]
    assert [link for link in links if not link.startswith("#")] == [file]


@pytest.mark.parametrize("text", ["<&>\n", '{"a":"b"}', "\x00\x1b", "\U0001d538"])
def test_the_largest_run_stays_below_five_megabytes(make_record: MakeRecord, text: str) -> None:
    head, lines = EMPTY, []
    for number in range(50):
        evidence = [entry(stdout=text * (64_000 // len(text))) for _ in range(2)]
        record = make_record(f"X.{number}", Verdict.FAIL, evidence=evidence)
        line = Line.after(head, at=AT, run="one", kind=Kind.GATE, fields=record.fields())
        lines.append(line)
        head = line.head

    page = pages.run_page(history.Run("one", lines), done.of(lines), Rendering(AT, head))

    assert 1_000_000 < len(page.encode()) < 5_000_000
    assert "characters more in the apply log" in page


@pytest.mark.parametrize("budget", [0, 10, 100, 1000, 10_000])
def test_the_cap_keeps_all_streams_within_the_budget(budget: int, make_record: MakeRecord) -> None:
    lengths = [0, 5, 50, 500, 5000]
    record = make_record("B.1", evidence=[entry(stdout="x" * n, stderr="") for n in lengths])

    cap = cap_for([record], budget)

    assert sum(min(cap, length) for length in lengths) <= budget
    assert sum(min(cap + 1, n) for n in lengths) > budget - len(lengths) or cap >= max(lengths)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 ms"), (0.0123, "12 ms"), (1.25, "1.2 s"), (59.94, "59.9 s"), (61, "1 min 01 s")],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_killed_runs_report_is_made_from_the_log(ledger: Ledger, make_record: MakeRecord) -> None:
    start(ledger, report="20261130T030405Z-gate_b.html", gates=["B.1", "B.2"])
    write(ledger, make_record("B.1"))
    other = Ledger.open(ledger.folder.parent, "lab", run="two")
    other.append(Kind.RUN_START)

    (path,) = render.unreported(ledger.folder, AT, running="two")

    assert path.name == "20261130T030405Z-gate_b.html"
    found = Structure(path.read_text())
    assert "This run had not written its end" in found.text
    assert "not decided" in found.text
    assert render.unreported(ledger.folder, AT, running="two") == []


def test_a_report_that_was_cut_off_is_made_again(ledger: Ledger) -> None:
    start(ledger, report="report.html")
    (ledger.folder / "report.html").write_text("<html><head>")

    assert len(render.unreported(ledger.folder, AT, running="two")) == 1


@pytest.mark.parametrize(
    "name", ["../../x.html", "/tmp/x.html", "apply-log.html", "x.txt", ".x.html", 7, None]
)
def test_a_report_cannot_be_written_elsewhere(ledger: Ledger, name: JSON) -> None:
    start(ledger, report=name)

    (run,) = history.runs(ledger.lines())
    assert render.report_name(run) == "one.html"


def test_an_ended_run_needs_no_second_report(ledger: Ledger) -> None:
    start(ledger)
    ledger.append(Kind.RUN_END)

    assert render.unreported(ledger.folder, AT, running="two") == []


def test_nothing_to_render_is_a_sentence(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no log to render"):
        render.cumulative(ledger.folder, AT)
    with pytest.raises(LedgerError, match="no run 'three'"):
        render.one_run(ledger.folder, "three", AT)
