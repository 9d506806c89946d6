"""An apply log as long as one gets: runs of every phase, with evidence, drills and statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from fixtures.applylog import reading
from fixtures.applylog.canonical import instant
from fixtures.applylog.record import EMPTY, GateRecord, Kind, Line
from fixtures.core.verdicts import Verdict
from fixtures.gates import GATES, Each

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fixtures.applylog.record import Head
    from fixtures.gates import Gate

NODES: Final[dict[str, list[str]]] = {
    Each.CONTROL_PLANE.value: ["rke-cp01", "rke-cp02", "rke-cp03"],
    Each.WORKER.value: ["rke-platform01", "rke-platform02", "rke-platform03"],
}
_IDENTITY: Final = "ab" * 32
_STEPS: Final = (
    "take the lock",
    "begin",
    "arm the undo",
    "stop it",
    "the fault is proved",
    "start",
)
_ROW: Final = "2026-12-01T03:04:05Z rke-cp01 what a host says, one line of many: state=active ok\n"
_WHY: Final = "rke-cp01: not as it must be ({}); next: look at it there, then decide the gate again"
_WORSE: Final = {7: Verdict.FAIL, 31: Verdict.UNKNOWN, 57: Verdict.BLOCKED}


@dataclass
class _Book:
    """Writes lines without syncing each; the chain is whole nevertheless."""

    at: datetime = datetime(2026, 8, 29, tzinfo=UTC)
    head: Head = EMPTY
    raw: list[bytes] = field(default_factory=list)
    decided: int = 0

    def add(self, run: str, kind: Kind, **fields: Any) -> None:
        self.at += timedelta(seconds=7)
        line = Line.after(self.head, at=self.at, run=run, kind=kind, fields=fields)
        self.head = line.head
        self.raw.append(line.encode())

    def gate(self, run: str, gate: Gate, node: str | None) -> None:
        self.decided += 1
        if gate.drill:
            self.drill(run, gate)
        verdict = _WORSE.get(self.decided % 97, Verdict.PASS)
        if gate.attested and verdict is Verdict.PASS:
            verdict = Verdict.ATTESTED
        record = GateRecord(
            gate=gate.id,
            node=node,
            verdict=verdict,
            summary=gate.title if verdict.satisfies else _WHY.format(self.decided),
            started=self.at,
            seconds=0.2,
            facts=_facts(gate, self.at, self.decided),
            evidence=[*_answers(node)],
            title=gate.title,
            section=gate.section,
            stop=gate.stop,
            deviation=gate.deviation,
        )
        self.add(run, Kind.GATE, identity=_IDENTITY, **record.fields())

    def drill(self, run: str, gate: Gate) -> None:
        for step in _STEPS:
            about = {"gate": gate.id, "host": "rke-cp02", "step": step}
            command = f"sudo -n systemd-run --quiet --unit=rke2-drill-{run}-{gate.id} -- {step}"
            self.add(run, Kind.STEP, **about, command=command, state="sending")
            self.add(run, Kind.STEP, **about, command=command, state="done")
        for now, then in (("start", "up"), ("up", "down"), ("down", "up")):
            self.add(run, Kind.SAMPLE, **{"gate": gate.id, "target": "new", "from": now}, to=then)


def write(folder: Path, entries: int) -> int:
    """Write a log in which so many gates were decided; its size in bytes.

    Args:
        folder: of the cluster; made if it is not there.
        entries: verdicts on gates; steps, samples and the rest come on top.
    """
    book = _Book()
    number = 0
    while book.decided < entries:
        number += 1
        run = f"run-{number:04d}"
        book.add(
            run,
            Kind.RUN_START,
            cluster="lab",
            mode="lab",
            operator="Ada Lovelace",
            command=f"pytest --lab -m all --operator='Ada Lovelace' # {number}",
            commit="0123456789ab",
            inventory="cd" * 32,
            nodes=NODES,
        )
        book.add(run, Kind.IDENTITY, identity=_IDENTITY)
        for gate, node in _rows():
            if book.decided < entries:
                book.gate(run, gate, node)
        book.add(run, Kind.DEVIATION, gate="C.6", deviation="the server is stopped by killall")
        book.add(run, Kind.RUN_END, status=1)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / reading.LOG).write_bytes(b"\n".join([*book.raw, b""]))
    (folder / reading.HEAD).write_bytes(book.head.encode())
    return sum(map(len, book.raw)) + len(book.raw)


def _rows() -> Iterator[tuple[Gate, str | None]]:
    for gate in GATES:
        for node in NODES.get(gate.each.value, (None,)):
            yield gate, node


def _answers(node: str | None) -> Iterator[dict[str, Any]]:
    for host in (node or "rke-cp01", "rke-cp02", "rke-cp03", "wetopi-ops01"):
        yield {
            "host": host,
            "command": "sudo -n systemctl show -p LoadState,ActiveState,SubState rke2-server",
            "rc": 0,
            "stdout": _ROW * 18,
            "stderr": "",
            "seconds": 0.1,
        }


def _facts(gate: Gate, at: datetime, number: int) -> dict[str, Any]:
    if gate.drill:
        gaps = [{"start": 0.4, "end": 0.7, "kinds": ["no-route"]}]
        lane = {"longest": 0.3, "total": 0.3, "gaps": gaps, "first_failure": 0.4}
        picture = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 200">{"<g/>" * 600}</svg>'
        )
        lanes = dict.fromkeys(("new", "reused", "combined"), lane)
        return {"availability": {"seconds": 3.1, **lanes}, "timeline": picture}
    if gate.attested:
        said = {
            "text": f"seen in the settings, {number}",
            "name": "Ada Lovelace",
            "at": instant(at),
        }
        return {"attested": said}
    return {"seen": "six of six", "versions": {"rke2": "v1.36.3+rke2r1", "etcd": "3.6.14"}}
