from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fixtures.applylog.redact import MARK, Redactor, redact
from selftests.applylog.test_redact import KEPT, PLANTED, TOKENS, WHOLE

HOSTILE = [
    "password=",
    'password="',
    "password='x\" ",
    "\\",
    '\\"',
    "eyJ",
    "eyJ.",
    "a" * 50,
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN A-----A",
    "-----END A-----",
    "A\n-----END A-----",
    "LS0tLS1CRUdJT",
    "LS0tLS1CRUdJT\n",
    "token ",
    "token\n",
    " token: |\n",
    "--password ",
    "--a",
    "://",
    "://a:",
    "://a@",
    "kind: Secret\n data:\n",
    '"kind":"Secret" "data":{',
    '"data":{"',
    "authorization: ",
    "bearer ",
    "k8s:enc:a:v1:",
    "K10" + "a" * 64 + "::",
    " ",
    "\n",
    "\t\n ",
    "-",
    "_token_secret_password",
    "-u a:",
    "abcdef.0123456789abcde",
    "name: password\n",
    "value: x\n",
    '"name":"password","value":"',
    '"value":"x","name":"password",',
    "name=password value=x ",
    '"password":{',
    "<password>",
    "<password ",
    "USER  TOKEN\n",
    "USER  TOKEN\na  b\n\n",
    "A  ",
    "a,token\n",
    "a,",
    "|token",
    "a |",
    "mysql ",
    "mysql -p",
    "docker login -a ",
    "secret value ",
    "password 'x",
    "password for a ",
    "PVE:a:",
    "$6$",
    "AQAA",
    "password: a\n  bbbbbbbb",
    "eyJa\n" + "a" * 16,
    "hooks.slack.com/a/",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_repeated_hostile_text_takes_time_in_proportion(unit: str) -> None:
    """A quadratic pattern would need minutes for each of these."""
    text = ("kind: Secret\n" + unit * (200_000 // len(unit)))[:200_000]

    assert len(redact(text)) <= len(text) * 4


@settings(deadline=None, max_examples=4)
@given(st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=6).map("".join))
def test_a_megabyte_of_mixed_hostile_text_is_finished(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]

    assert len(redact(text)) <= len(text) * 4


fragments = st.lists(
    st.one_of(
        st.sampled_from(
            [*HOSTILE, *PLANTED.values(), *WHOLE.values(), *TOKENS.values(), *KEPT, MARK]
        ),
        st.text(max_size=20),
    ),
    max_size=8,
).map("".join)


@settings(deadline=None, max_examples=200)
@given(fragments)
@example("-----BEGIN RSA PRIVATE KEY-----    client-key-data: aHVudGVyMi1Db3JyZWN0LkhvcnNlOQ==")
@example("-----BEGIN RSA PRIVATE KEY-----invalid basic information was given")
@example("""{"kind":"Secret","data":{"a":"b" password='} "c":"d" e""")
@example("""{"kind":"Secret","data":{password='x" tool --secret "hunter2 and more" --quiet""")
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


def test_what_does_not_settle_is_hidden_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = Redactor()
    monkeypatch.setattr(redactor, "_once", lambda text: f"{text}x")

    assert redactor.text("a") == MARK


@pytest.mark.parametrize("secret", ["redacted", MARK])
def test_the_mark_is_no_secret(secret: str) -> None:
    redactor = Redactor()

    assert not redactor.learn(secret)
    assert redactor.text("password=abc") == f"password={MARK}"
