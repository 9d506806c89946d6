"""The latch that a CLEANUP STOP sets (G.4)."""

from __future__ import annotations

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.statements import Statement
from fixtures.core.verdicts import Undecided
from fixtures.judge import cleanup
from selftests.project.tree import ROOT

CLUSTER = load(ROOT / "inventories" / "wetopi.yaml")


def test_a_latch_holds_until_it_is_released() -> None:
    why = {cleanup.LATCH: "plaintext"}
    assert cleanup.latched([]) == ""
    assert cleanup.latched([why, {}, {"stored": 1}]) == "plaintext"
    assert cleanup.latched([why, {cleanup.LATCH: cleanup.RELEASED}]) == ""
    assert cleanup.latched([why, {cleanup.LATCH: cleanup.RELEASED}, why]) == "plaintext"


def test_a_latch_ends_with_a_statement_only() -> None:
    def nobody() -> Statement:
        raise Undecided("nobody")

    secret = cleanup.repository_secret(CLUSTER)
    with pytest.raises(Undecided, match="--attest"):
        cleanup.released(secret, nobody)
    said = cleanup.released(secret, lambda: Statement("G.4", "revoked", "Ana", "2026-11-30"))
    assert "Ana" in said
