from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

import pytest

from fixtures.applylog.ledger import Ledger
from fixtures.applylog.record import GateRecord, Kind
from fixtures.core.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from fixtures.applylog.canonical import JSON

AT = datetime(2026, 11, 30, 3, 4, 5, tzinfo=UTC)
IDENTITY = "ab" * 32
OTHER = "cd" * 32


class MakeRecord(Protocol):
    def __call__(
        self,
        key: str,
        verdict: Verdict = ...,
        *,
        summary: str = ...,
        facts: Mapping[str, JSON] = ...,
        evidence: list[dict[str, JSON]] = ...,
        stop: str | None = ...,
    ) -> GateRecord: ...


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path, "lab", run="one")


@pytest.fixture
def make_record() -> MakeRecord:
    def make(
        key: str,
        verdict: Verdict = Verdict.PASS,
        *,
        summary: str = "as the runbook asks",
        facts: Mapping[str, JSON] | None = None,
        evidence: list[dict[str, JSON]] | None = None,
        stop: str | None = "the runbook's STOP",
    ) -> GateRecord:
        gate, _, node = key.partition("[")
        return GateRecord(
            gate=gate,
            node=node.removesuffix("]") or None,
            verdict=verdict,
            summary=summary,
            started=AT,
            seconds=0.5,
            facts=facts or {},
            evidence=evidence or [],
            title="the claim",
            section="Validation gate C",
            stop=stop,
        )

    return make


@pytest.fixture
def decide(ledger: Ledger, make_record: MakeRecord) -> Callable[..., None]:
    """Write a gate's line, for a cluster of that identity."""

    def write(
        key: str, verdict: Verdict = Verdict.PASS, identity: str | None = IDENTITY, **more: JSON
    ) -> None:
        record = make_record(key, verdict, facts=more)
        ledger.append(Kind.GATE, identity=identity, **record.fields())

    return write
