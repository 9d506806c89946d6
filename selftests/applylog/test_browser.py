"""The pages as a browser shows them: hostile text, keyboard, links, phones, and nothing fetched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bench.browser import Browser, browser
from fixtures.applylog import render
from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    MakeRecord = Callable[..., GateRecord]

pytestmark = pytest.mark.external

AT = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
IDENTITY = "ab" * 32
OWN = "document.title='owned'"
ATTACKS = (
    f"<script>{OWN}</script>",
    f'"><img src=x onerror="{OWN}">',
    f"'><svg/onload={OWN}>",
    f"</title></style></script></pre></details><script>{OWN}</script>",
    f'javascript:{OWN}//" onmouseover="{OWN}" autofocus onfocus="{OWN}" x="',
    f"<iframe srcdoc=\"<script>top.{OWN}</script>\"></iframe><base href='http://192.0.2.1/'>",
    "<link rel=stylesheet href=http://192.0.2.1/x.css><style>*{background:url(//192.0.2.1)}</style>",
    "<form action=http://192.0.2.1><button>STOP</button></form><meta http-equiv=refresh content=0>",
)
EVIL = " ".join(ATTACKS)


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser() as tab:
        yield tab


@pytest.fixture
def hostile(ledger: Ledger, make_record: MakeRecord) -> Path:
    """A log in which everything that is not the suite's own attacks whoever looks at it."""
    ledger.append(
        Kind.RUN_START,
        **dict.fromkeys(("cluster", "mode", "operator", "command", "commit", "inventory"), EVIL),
        gates=["C.1", EVIL, f"C.3[{EVIL}]"],
        nodes={"control-plane": [EVIL], "worker": [EVIL]},
    )
    ledger.append(Kind.IDENTITY, identity=IDENTITY, reason=EVIL)
    given = {"name": EVIL, "scope": ["C.6", EVIL], "given": EVIL, "until": EVIL, "operator": EVIL}
    ledger.append(Kind.AUTHORIZATION, **given)
    for state in ("sending", "done"):
        ledger.append(
            Kind.STEP, gate="C.6", host=EVIL, step=EVIL, state=state, command=EVIL, why=EVIL,
            output=[EVIL], **{EVIL: EVIL},
        )  # fmt: skip
    ledger.append(Kind.SAMPLE, gate="C.6", target=EVIL, to=EVIL, detail=EVIL)
    ledger.append(Kind.DEVIATION, gate=EVIL, deviation=EVIL)
    ledger.append(Kind.LATCH, state=EVIL, by=EVIL, what=EVIL)
    streams = {"stdout": EVIL, "stderr": EVIL, "rc": 1}
    evidence = [
        {"host": EVIL, "command": EVIL, **streams, "cut": [{"stream": "stdout", "file": EVIL}]},
        {"host": EVIL, "request": EVIL, "status": EVIL, "body": EVIL, "refused": EVIL},
        {"host": EVIL, "command": EVIL, "unanswered": EVIL},
    ]
    said = {"text": EVIL, "name": EVIL, "at": EVIL}
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{OWN}"><script>{OWN}</script></svg>'
    facts: dict[str, Any] = {
        "timeline": picture, "attested": said, "authorization": given, EVIL: EVIL,
        "availability": {"combined": {"gaps": [{"start": EVIL, "kinds": [EVIL]}]}, "trouble": EVIL},
    }  # fmt: skip
    for key, verdict in (
        ("C.1", Verdict.FAIL),
        (f"C.3[{EVIL}]", Verdict.UNKNOWN),
        ("C.6", Verdict.PASS),
        ("C.6.undo", Verdict.FAIL),
        ("0.3", Verdict.ATTESTED),
        ("C.2", Verdict.BLOCKED),
        (EVIL.replace("[", ""), Verdict.FAIL),
    ):
        for _ in range(2):
            record = make_record(key, verdict, summary=EVIL, facts=facts, evidence=evidence)
            fields = record.fields() | dict.fromkeys(
                ("section", "stop", "title", "deviation"), EVIL
            )
            ledger.append(Kind.GATE, identity=IDENTITY, **fields)
    other = Ledger.open(ledger.folder.parent, "lab", run=EVIL)
    other.append(Kind.RUN_START, operator=EVIL, report="x.html")
    return ledger.folder


def test_hostile_text_is_text_wherever_it_stands(tab: Browser, hostile: Path) -> None:
    pages = [render.cumulative(hostile, AT), render.one_run(hostile, "one", AT)]
    for page in pages:
        tab.requested.clear()
        tab.complaints.clear()
        tab.screen(1280, 900)
        tab.open(page)
        for row in ("details", "[hidden]"):
            tab.evaluate(f"document.querySelectorAll('{row}').forEach(e => e.open = true)")
        tab.evaluate("document.querySelectorAll('a, summary, [tabindex]').forEach(e => e.focus())")
        assert tab.evaluate("document.title") != "owned"
        assert tab.complaints == []
        asked = [each for each in tab.requested if not each.startswith("data:image/svg+xml;")]
        assert asked == [page.as_uri()]
        assert tab.evaluate("document.body.innerText.includes('<script>')")
        foreign = (
            "iframe, base, link, form, object, embed, svg, style ~ style, body style, [srcdoc]"
        )
        assert tab.evaluate(f"document.querySelectorAll('{foreign}').length") == 0
        assert tab.evaluate("document.scripts.length") == (page == pages[0])
        handlers = """[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())
            .filter(name => name.startsWith('on') || name === 'style')"""
        assert tab.evaluate(handlers) == []
        links = "[...document.querySelectorAll('[href], [src]')].map(e => e.href || e.src)"
        for link in tab.evaluate(links):
            assert link.startswith(("file:///", "data:image/svg+xml;")), link


def counted(tab: Browser) -> str:
    return str(tab.evaluate("document.getElementById('filter-count').textContent"))


def focused(tab: Browser) -> str:
    return str(tab.evaluate("document.activeElement.id || document.activeElement.tagName"))


@pytest.fixture
def page(ledger: Ledger, make_record: MakeRecord) -> Path:
    ledger.append(Kind.RUN_START, cluster="lab", mode="lab", operator="anna")
    ledger.append(Kind.IDENTITY, identity=IDENTITY)
    long = "x" * 300 + " " + "/var/lib/rancher/rke2/server/db/snapshots" * 3
    entry = {"host": "rke-cp01", "command": long, "rc": 0, "stdout": f"{long}\n" * 9}
    for key, verdict in (
        ("B.3", Verdict.FAIL),
        ("C.1", Verdict.PASS),
        ("C.6", Verdict.PASS),
        ("C.6", Verdict.FAIL),
        ("C.6", Verdict.PASS),
        ("0.3", Verdict.ATTESTED),
    ):
        facts = {"attested": {"text": long, "name": "Ada", "at": "2026-11-30T01:00:00Z"}}
        summary = f"{key} is {verdict} {long}"
        record = make_record(key, verdict, summary=summary, facts=facts, evidence=[entry])
        ledger.append(Kind.GATE, identity=IDENTITY, **record.fields())
    return render.cumulative(ledger.folder, AT)


def test_everything_is_reached_by_keyboard(tab: Browser, page: Path) -> None:
    tab.screen(1280, 900)
    tab.open(page)
    for _ in range(40):
        tab.press("Tab")
        if focused(tab) == "filter-text":
            break
    whole = counted(tab)
    for letter in "b.3":
        tab.press(letter)
    assert counted(tab) != whole
    assert counted(tab).startswith("1 of ")
    order = []
    for _ in range(4):
        tab.press("Tab")
        order.append(focused(tab))
    assert order == ["filter-phase", "filter-verdict", "filter-open", "filter-clear"]
    tab.press("Enter")
    assert (counted(tab), focused(tab)) == (whole, "filter-text")
    for _ in range(3):
        tab.press("Tab")
    tab.press(" ")
    assert counted(tab) != whole
    tab.press(" ")
    while focused(tab) != "SUMMARY":
        tab.press("Tab")
    opened = "document.activeElement.parentElement.open"
    before = tab.evaluate(opened)
    tab.press("Enter")
    assert tab.evaluate(opened) is not before
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.evaluate(outline) != "none"


def test_a_link_opens_its_row_whatever_was_filtered_away(tab: Browser, page: Path) -> None:
    tab.screen(1280, 900)
    tab.open("about:blank")
    tab.open(f"{page.as_uri()}#gate-C.1")
    row = "document.getElementById('gate-C.1')"
    assert tab.evaluate(f"{row}.open")
    top = tab.evaluate(f"{row}.getBoundingClientRect().top")
    assert 0 <= top < 300

    tab.open("about:blank")
    tab.open(page)
    tab.evaluate(
        "document.getElementById('filter-text').value = 'B.3';"
        "document.getElementById('filter-text').dispatchEvent(new Event('input'))"
    )
    assert tab.evaluate(f"{row}.hidden")
    tab.evaluate("document.querySelector('a[href=\"#gate-C.1\"]').click()")
    tab.evaluate("new Promise(done => setTimeout(done, 0))")
    assert not tab.evaluate(f"{row}.hidden")
    assert tab.evaluate(f"{row}.open")


def test_a_search_shows_what_it_found_and_nothing_else(tab: Browser, page: Path) -> None:
    def search(words: str) -> None:
        tab.evaluate(
            f"document.getElementById('filter-text').value = '{words}';"
            "document.getElementById('filter-text').dispatchEvent(new Event('input'))"
        )

    def seen(selector: str) -> int:
        shown = f"[...document.querySelectorAll('{selector}')].filter(e => e.checkVisibility())"
        return int(tab.evaluate(f"{shown}.length"))

    tab.screen(1280, 900)
    tab.open("about:blank")
    tab.open(page)
    whole = seen("section")
    search("C.6 FAIL")
    assert 0 < seen("section") < whole
    assert seen("[data-older] .row") == 1, "an earlier drill that was found is not left closed"
    search("nothing like it")
    assert seen("section") == 0
    assert counted(tab).startswith("0 of ")
    search("")
    assert seen("section") == whole


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_page_is_wider_than_its_screen(tab: Browser, page: Path, width: int) -> None:
    run = render.one_run(page.parent, "one", AT)
    tab.screen(width, 844, phone=width < 800)
    for each in (page, run):
        tab.open(each)
        tab.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints_on_paper_without_its_controls(tab: Browser, page: Path) -> None:
    tab.screen(1280, 900, dark=True)
    tab.open(page)
    assert tab.paper().startswith(b"%PDF-")
    tab.send("Emulation.setEmulatedMedia", media="print")
    style = "getComputedStyle(document.{}).{}"
    try:
        assert tab.evaluate(style.format("getElementById('filter')", "display")) == "none"
        assert tab.evaluate(style.format("body", "backgroundColor")) == "rgb(255, 255, 255)"
        assert tab.evaluate(style.format("body", "color")) == "rgb(0, 0, 0)"
        badge = style.format("querySelector('.badge.PASS')", "backgroundColor")
        assert tab.evaluate(badge) == "rgb(26, 127, 55)"
    finally:
        tab.send("Emulation.setEmulatedMedia", media="")
