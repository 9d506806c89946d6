"""What was learnt to be a secret is hidden in every form, whole or cut in two."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from fixtures.applylog.redact import MARK, Redactor, redact
from selftests.applylog.test_redact import BODY, HEX32


@pytest.mark.parametrize("secret", ["p@ss wörd/+=&9", HEX32, "a" * 8, f"{BODY}\n{BODY}x"])
def test_learnt_secrets_are_hidden_in_every_form(secret: str) -> None:
    redactor = Redactor()
    assert redactor.learn(secret)
    raw = secret.encode()
    forms = {
        secret: secret,
        json.dumps(secret): json.dumps(secret)[1:-1],
        urllib.parse.quote(secret, safe=""): urllib.parse.quote(secret, safe=""),
        base64.b64encode(raw).decode(): base64.b64encode(raw).decode()[:-4],
        base64.urlsafe_b64encode(raw).decode(): base64.urlsafe_b64encode(raw).decode()[:-4],
        base64.b64encode(b"x" + raw + b"y").decode(): base64.b64encode(b"x" + raw).decode()[2:-4],
        base64.b64encode(b"xy" + raw + b"z").decode(): base64.b64encode(b"xy" + raw).decode()[3:-4],
    }

    for whole, part in forms.items():
        assert part in whole
        assert part not in redactor.text(f"before ({whole}) after")


ROWS = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "AgEAAoIBAQC7bV3xqk", "c0ffee=="]


def test_a_learnt_key_does_not_hide_how_other_keys_are_recognised() -> None:
    redactor = Redactor()
    own = "-----BEGIN PRIVATE KEY-----\nbGVhcm50IGtleSBtYXRlcmlhbCBvZiB0aGUgcnVu\n"
    redactor.learn(f"{own}-----END PRIVATE KEY-----\n")

    said = redactor.text("-----BEGIN PRIVATE KEY-----\n" + "\n".join(ROWS) + "\n# cut here\n")
    assert not [row for row in ROWS if row in said]
    assert said.endswith("# cut here\n")
    assert "bGVhcm50" not in redactor.text(own)


@pytest.mark.parametrize("end", [" -----END PRIVATE KEY-----", ""])
def test_a_key_on_one_line_does_not_survive(end: str) -> None:
    said = redact(
        f"seen `-----BEGIN PRIVATE KEY----- {' '.join(ROWS[: 1 if not end else 3])}{end}`"
    )
    assert not [row for row in ROWS if row in said]


def test_a_secret_too_short_to_recognise_is_not_learnt() -> None:
    redactor = Redactor()

    assert not redactor.learn("eth0")
    assert redactor.text("eth0 is up") == "eth0 is up"


@pytest.mark.parametrize("form", ["as it is", "base64", "in a URL"])
def test_a_learnt_secret_that_was_cut_in_two_is_hidden_at_either_end(form: str) -> None:
    """A stream that is cut may be cut within a secret: eight characters give it away."""
    redactor = Redactor()
    secret = "Pl4nt/0123+456789abcdef01"
    redactor.learn(secret)
    told = {
        "as it is": secret,
        # The last character depends on what follows.
        "base64": base64.b64encode(secret.encode()).decode()[: len(secret) * 8 // 6],
        "in a URL": urllib.parse.quote(secret, safe=""),
    }[form]
    for size in range(8, len(told)):
        assert redactor.text(f"it said {told[:size]}") == f"it said {MARK}"
        rest = redactor.text(f"{told[-size:]} it said")
        assert not any(told[at : at + 8] in rest for at in range(len(told) - 7)), rest
    for size in range(1, 8):
        assert redactor.text(f"it said {told[:size]}") == f"it said {told[:size]}"
