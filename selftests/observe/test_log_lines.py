"""One line of a log has its own level, whatever it quotes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.log_lines import Level, parse_line, unquoted
from selftests.observe import k3s

WHEN = "2026-11-30T13:22:42Z"


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        (f'time="{WHEN}" level=info msg="Snapshot a saved."', Level.INFO, "Snapshot a saved."),
        (f'time="{WHEN}" level=error msg="said: \\"no\\""', Level.ERROR, 'said: "no"'),
        (f'time="{WHEN}" level=info msg=start', Level.INFO, "start"),
        ('level=warning msg="Unknown flag\\n"', Level.WARNING, "Unknown flag\n"),
        (f'time="{WHEN}" level=fatal msg="x"', Level.FATAL, "x"),
        (
            f'time="{WHEN}" level=info msg="it printed level=error msg=\\"bad\\""',
            Level.INFO,
            'it printed level=error msg="bad"',
        ),
        ("\x1b[36mINFO\x1b[0m[0000] Snapshot a saved.      \r", Level.INFO, "Snapshot a saved."),
        ('\x1b[31mERRO\x1b[0m[0042] Shutdown: "x"  \r', Level.ERROR, 'Shutdown: "x"'),
        ("\x1b[31mFATA\x1b[0m[0000] Error: x \r", Level.FATAL, "Error: x"),
        ('{"level":"error","ts":1,"caller":"a/corrupt.go:1","msg":"m"}', Level.ERROR, "m"),
        ('{"level":"dpanic","msg":"m"}', Level.PANIC, "m"),
        ('{"level":"warn","msg":"m"}', Level.WARNING, "m"),
        ('{"level":"warn","msg":', None, '{"level":"warn","msg":'),
        ('{"msg":"no level"}', None, '{"msg":"no level"}'),
        ('E1130 13:17:02.788254   24660 a.go:413] "lost"', Level.ERROR, '"lost"'),
        ("F1130 13:17:02.788254   24660 a.go:413] gone", Level.FATAL, "gone"),
        ("I1130 13:17:02.788254   24660 a.go:413] E1130 quoted", Level.INFO, "E1130 quoted"),
        (
            "panic: tocommit(640) is out of range",
            Level.PANIC,
            "panic: tocommit(640) is out of range",
        ),
        ("fatal error: fault", Level.PANIC, "fatal error: fault"),
        ("[signal SIGBUS: bus error]", Level.PANIC, "[signal SIGBUS: bus error]"),
        ("panicking is not a crash", None, "panicking is not a crash"),
        ("goroutine 1 [running]:", None, "goroutine 1 [running]:"),
        ("rke2-server.service: Failed with result 'exit-code'.", None, None),
        ("", None, ""),
    ],
)
def test_a_line(line: str, level: Level | None, message: str | None) -> None:
    parsed = parse_line(line)
    assert parsed.level is level
    assert message is None or parsed.message == message
    assert parsed.error is (level in {Level.ERROR, Level.FATAL, Level.PANIC})


def test_where_a_line_was_written_is_not_what_it_says() -> None:
    line = '{"level":"error","caller":"corrupt.go:1","msg":"m","error":"e","stacktrace":"panic"}'
    assert parse_line(line).text == "m e"


def test_fields_of_logrus_are_detail() -> None:
    parsed = parse_line('level=error msg="m" error="disk" url="wss://x"')
    assert (parsed.message, parsed.detail) == ("m", 'error="disk" url="wss://x"')


@given(st.text())
def test_any_line_is_read(line: str) -> None:
    parse_line(line)


@given(
    st.sampled_from(["info", "error", "fatal"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1b")),
)
def test_a_quoted_message_comes_back_whole(level: str, message: str) -> None:
    parsed = parse_line(f'time="{WHEN}" level={level} msg={json.dumps(message)}')
    assert (parsed.level, parsed.message) == (level, message)


@given(st.text(max_size=40))
def test_other_text_stays_as_it_is(content: str) -> None:
    assert unquoted(f"x{content}") == f"x{content}"


@pytest.mark.parametrize("name", ["snapshot", "encrypt", "reset", "logs"])
def test_no_line_of_logrus_in_the_captures_goes_without_a_level(name: str) -> None:
    lines = [line for line in k3s.text(name).splitlines() if line.startswith('time="')]
    assert lines
    cut = [line for line in lines if parse_line(line).level is None]
    assert all(
        line.endswith(("[...]", "GET /readyz failed: the server is currently unable to "))
        or line.count('"') % 2
        for line in cut
    ), cut
