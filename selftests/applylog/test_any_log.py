"""Whatever stands in the lines of a log whose chain holds: every command tells it, or says why not.

A log comes from another version, from another desk, or from whoever wants the page to break. Its
hashes say that it was not changed since, not that its fields are what this version writes.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fixtures import gates
from fixtures.applylog.__main__ import main
from fixtures.applylog.canonical import canonical
from fixtures.applylog.reading import HEAD, LOG
from fixtures.applylog.record import EMPTY, Kind, Line
from fixtures.applylog.redact import MARK
from fixtures.core.milestones import BEGIN, LOCKING, LOOKED_AFTER, RECOVERED
from fixtures.core.verdicts import Verdict
from selftests.applylog.story import AT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fixtures.applylog.ledger import Ledger

    Fields = dict[str, Any]

COMMANDS = (["verify"], ["status"], ["dod"], ["show"], ["show", "--gate=C.5"], ["render"])
KEYS = [gate.id for gate in gates.GATES] + ["C.5.undo", "C.9", "[", ""]
FIELD_NAMES = """
gate node verdict summary evidence facts started seconds title section stop deviation identity step
state host command why output stales of expected after seen voids by what name scope until given
operator cluster mode commit inventory gates nodes drill target from to detail totals file sha256
status verdicts text attested authorization availability timeline applied combined gaps longest
total start end kinds blind interval connections trouble
"""
NAMES = FIELD_NAMES.split()
WORDS = [
    *KEYS,
    *(verdict.value for verdict in Verdict),
    *(LOCKING, BEGIN, RECOVERED, LOOKED_AFTER, "sending", "done", "failed", "set", "cleared"),
    *("rke-cp01", "ab" * 32, "2026-11-30T03:04:05Z", "0001-01-01T00:00:00+23:59"),
    *("9999-12-31T23:59:59-23:59", "<svg onload=alert(1)>", "\ud800", "\x1b[2J", "a\nb\u202ec"),
]


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for level in range(depth):
        value = [value] if level % 2 else {"it": value}
    return value


HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 1, 3, 2**63, 10**98, -(10**98), 0.5, -1e308, 1e308, 5e-324]),
    st.sampled_from(WORDS),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=2)), inner, max_size=4),
    ),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=7).map(
    lambda fields: {name: value for name, value in fields.items() if name != "at"}
)
GATE = st.fixed_dictionaries(
    {"gate": st.sampled_from(KEYS), "verdict": st.sampled_from(["PASS", "FAIL", "UNKNOWN", 7])},
    optional=dict.fromkeys(("node", "evidence", "facts", "started", "seconds", "summary"), VALUES),
)
STEP = st.fixed_dictionaries(
    {
        "gate": st.sampled_from(["C.5", "C.6", "F6-3"]),
        "step": st.sampled_from([LOCKING, BEGIN, RECOVERED, LOOKED_AFTER, "begin the restore"]),
        "state": st.sampled_from(["sending", "done", "failed", 3]),
    },
    optional=dict.fromkeys(("host", "output", "why", "expected", "after", "of"), VALUES),
)
LINES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(list(Kind)), FIELDS),
        st.tuples(st.just(Kind.GATE), GATE),
        st.tuples(st.just(Kind.STEP), STEP),
    ),
    min_size=1,
    max_size=9,
)


def written(folder: Path, lines: Sequence[tuple[Kind, Fields]]) -> Path:
    """A log of these lines in a folder of its own."""
    head, rows = EMPTY, []
    for number, (kind, fields) in enumerate(lines):
        run = f"run-{number % 2}"
        line = Line.after(head, at=AT, run=run, kind=kind, fields=fields)
        head = line.head
        rows.append(line.encode() + b"\n")
    return put(folder, b"".join(rows), head.encode())


def put(folder: Path, log: bytes, head: bytes) -> Path:
    cluster = folder / "lab"
    cluster.mkdir(mode=0o700, exist_ok=True)
    for name, data in ((LOG, log), (HEAD, head)):
        (cluster / name).write_bytes(data)
        (cluster / name).chmod(0o600)
    return folder


def every_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[tuple[int, str, str]]:
    for command in COMMANDS:
        code = main([*command, f"--reports={folder}"])
        yield code, *capsys.readouterr()


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example([(Kind.GATE, {"gate": "C.5", "verdict": "PASS", "seconds": 10**98})])
@example([(Kind.GATE, {"gate": "C.5", "verdict": "FAIL", "started": "0001-01-01T00:00:00+23:59"})])
@given(LINES)
def test_any_log_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[tuple[Kind, Fields]]
) -> None:
    folder = written(Path(mkdtemp(dir=tmp_path)), lines)
    for code, out, err in every_command(folder, capsys):
        assert code == 0, out + err
        assert not err
        assert not HIDDEN.search(out)
    page = (folder / "lab" / "apply-log.html").read_text(encoding="utf-8")
    assert "<svg onload" not in page
    assert not HIDDEN.search(page)


@pytest.mark.parametrize(
    "at", ["2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "2026-11-30T25:00:00Z"]
)
def test_a_line_of_no_day_is_a_broken_log_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: str
) -> None:
    line = Line.after(EMPTY, at=AT, run="one", kind=Kind.RUN_END, fields={"status": 0})
    body = json.loads(line.encode())
    assert datetime.fromisoformat(body["at"])
    body = {name: value for name, value in body.items() if name != "hash"} | {"at": at}
    digest = hashlib.sha256(canonical(body)).hexdigest()
    raw = canonical({**body, "hash": digest}) + b"\n"
    folder = put(tmp_path, raw, canonical({"hash": digest, "seq": 1}) + b"\n")
    for code, out, err in every_command(folder, capsys):
        assert code == 1
        assert "`at` is not a UTC time" in out + err


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Kind.GATE, {"gate": "C.5", "verdict": "FAIL", "facts": {"it": nested(60)}}),
        (Kind.RUN_START, {"nodes": nested(60), "operator": nested(60), "command": nested(60)}),
        (Kind.STEP, {"gate": "C.5", "step": BEGIN, "state": "done", "expected": nested(60)}),
        (Kind.IDENTITY, {"identity": nested(60)}),
    ],
)
def test_what_is_nested_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: Kind, fields: Fields
) -> None:
    for code, _out, err in every_command(written(tmp_path, [(kind, fields)]), capsys):
        assert (code, err) == (0, "")


@pytest.mark.parametrize("depth", [70, 300, 900])
def test_what_nobody_can_read_is_a_broken_log_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], depth: int
) -> None:
    with pytest.raises(ValueError, match="deeper than 64"):
        Line.after(EMPTY, at=AT, run="one", kind=Kind.GATE, fields={"facts": nested(depth)})
    inner = b'{"it":' * depth + b"1" + b"}" * depth
    raw = (
        b'{"at":"2026-11-30T03:04:05.000Z","facts":%b,"kind":"gate","prev":"%b","run":"one",'
        b'"seq":1}' % (inner, b"0" * 64)
    )
    digest = hashlib.sha256(raw).hexdigest()
    raw = raw.replace(b',"kind"', b',"hash":"%b","kind"' % digest.encode())
    folder = put(tmp_path, raw + b"\n", canonical({"hash": digest, "seq": 1}) + b"\n")
    for code, out, err in every_command(folder, capsys):
        assert code == 1
        assert "nests deeper" in out + err or "not JSON" in out + err


def test_what_the_writer_is_given_can_be_read(ledger: Ledger) -> None:
    line = ledger.append(Kind.GATE, gate="C.5", facts={"deep": nested(900), "large": 10**5000})
    (again,) = ledger.lines()
    assert again == line
    assert again.fields["facts"]["large"] == MARK
