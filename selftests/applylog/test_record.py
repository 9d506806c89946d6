from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.applylog.canonical import canonical, instant, moment
from fixtures.applylog.errors import RecordError
from fixtures.applylog.record import EMPTY, GENESIS, GateRecord, Head, Kind, Line
from fixtures.core.verdicts import Verdict

AT = datetime(2026, 11, 30, 3, 4, 5, 678901, tzinfo=UTC)
LINE = Line.after(EMPTY, at=AT, run="one", kind=Kind.STEP, fields={"text": "ü", "list": [1, 2.5]})

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(
    st.text().filter(lambda key: key not in {"seq", "at", "run", "kind", "prev", "hash"}),
    values,
    max_size=4,
)


@given(fields)
def test_a_line_is_read_as_it_was_written(given_fields: dict[str, Any]) -> None:
    line = Line.after(EMPTY, at=AT, run="one", kind=Kind.STEP, fields=given_fields)

    raw = line.encode()
    assert Line.decode(raw) == line
    assert b"\n" not in raw
    assert raw.isascii()


def test_the_hash_covers_everything_but_itself() -> None:
    held = json.loads(LINE.encode())
    digest = held.pop("hash")
    spelled = json.dumps(held, sort_keys=True, separators=(",", ":")).encode()

    assert held["prev"] == GENESIS
    assert hashlib.sha256(spelled).hexdigest() == digest


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused_with_a_sentence(raw: bytes) -> None:
    with pytest.raises(RecordError):
        Line.decode(raw)


@given(st.data())
def test_any_change_of_a_line_is_found(data: st.DataObject) -> None:
    raw = bytearray(LINE.encode())
    index = data.draw(st.integers(0, len(raw) - 1))
    raw[index] = data.draw(st.integers(0, 255).filter(lambda byte: byte != raw[index]))

    with pytest.raises(RecordError):
        Line.decode(bytes(raw))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "`seq`"),
        (b"\xff\xfe", "not ASCII"),
        (b"\x00" * 80, "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 50_000, "not JSON"),
        (b'{"seq":' + b"9" * 5000 + b"}", "a number of 5000 digits"),
        (b'{"a":NaN}', "the number NaN"),
        (b'{"a":-Infinity}', "the number -Infinity"),
        (b'{"a":1e999}', "not JSON"),
        (b'{"seq":1,"seq":1}', "same key twice"),
        (b'{"seq": 1}', "not spelled"),
        (b'{"b":1,"a":1}', "not spelled"),
        (b'{"a":"\\u0041"}', "not spelled"),
        (b'{"seq":true}', "`seq`"),
        (b'{"seq":1.0}', "`seq`"),
        (b'{"seq":0}', "`seq`"),
        (b'{"at":"yesterday","seq":1}', "`at`"),
        (b'{"at":"2026-11-30T03:04:05+01:00","seq":1}', "`at`"),
        (b'{"at":"2026-11-30T03:04:05Z","run":"","seq":1}', "`run`"),
        (b'{"at":"2026-11-30T03:04:05Z","kind":"party","run":"r","seq":1}', "`kind`"),
        (b'{"at":"2026-11-30T03:04:05Z","kind":"step","prev":"no","run":"r","seq":1}', "`prev`"),
    ],
)
def test_what_the_writer_does_not_write_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        Line.decode(raw)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", object()])
def test_what_is_not_json_cannot_be_written(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON"):
        canonical({"value": value})


def test_times_are_utc_whatever_zone_they_come_from() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))

    assert instant(elsewhere) == "2026-11-30T03:04:05.678Z"
    assert moment(instant(elsewhere)) == AT.replace(microsecond=678000)


@pytest.mark.parametrize("raw", [b"", b"{}\n", b'{"hash":"x","seq":1}\n', b'{"seq":1}', b"\xff"])
def test_a_damaged_head_is_refused(raw: bytes) -> None:
    with pytest.raises(RecordError):
        Head.decode(raw)


def test_a_head_is_read_as_it_was_written() -> None:
    assert Head.decode(LINE.head.encode()) == LINE.head


def gate_line(**changes: Any) -> Line:
    record = GateRecord(
        gate="C.3",
        node="rke-cp01",
        verdict=Verdict.PASS,
        summary="well",
        started=AT.replace(microsecond=0),
        seconds=1.5,
        evidence=[{"host": "rke-cp01", "rc": 0}],
        facts={"applied": ["rke-cp01"]},
        stop="stop",
    )
    return Line.after(
        EMPTY, at=AT, run="one", kind=Kind.GATE, fields={**record.fields(), **changes}
    )


def test_a_gates_record_is_read_as_it_was_written() -> None:
    record = GateRecord.of(gate_line(identity="ab"))

    assert record.key == "C.3[rke-cp01]"
    assert record.verdict is Verdict.PASS
    assert record.evidence == [{"host": "rke-cp01", "rc": 0}]
    assert (record.identity, record.seq, record.run) == ("ab", 1, "one")
    assert record.started == AT.replace(microsecond=0)


@pytest.mark.parametrize("verdict", ["GREAT", "pass", 1, None, ["PASS"], {"a": 1}])
def test_a_verdict_that_cannot_be_read_is_unknown(verdict: Any) -> None:
    assert GateRecord.of(gate_line(verdict=verdict)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("field", ["node", "summary", "evidence", "facts", "started", "seconds"])
@pytest.mark.parametrize("value", [None, 1, "x", [1], {"a": 1}, True])
def test_a_gates_line_of_odd_shape_is_read_nevertheless(field: str, value: Any) -> None:
    assert GateRecord.of(gate_line(**{field: value})).gate == "C.3"
