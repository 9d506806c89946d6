"""What the pages tell somebody to type is accepted, and the night's guide has all of the night."""

from __future__ import annotations

import importlib.util
import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.applylog.__main__ import NO_LOG
from fixtures.applylog.__main__ import main as applylog
from fixtures.core.inventory_file import load as load_inventory
from fixtures.core.statements import Statement
from fixtures.gates import GATES, Phase
from fixtures.judge.vm_snapshots import names_the_rest
from lab.__main__ import _parser as lab_parser
from lab.storage import FSID
from machines.__main__ import _parser as machines_parser
from machines.faults import FAULTS
from selftests.project.commands import PAGES, commands, of_blocks
from selftests.project.tree import ROOT
from selftests.session.suite import WETOPI, log_lines, suite

if TYPE_CHECKING:
    from selftests.project.commands import Command

GUIDE: Final = ROOT / "docs" / "operating-guide.md"
FILLED: Final = {"<id>": "C.5", "<fsid>": FSID, "NAME": "Ada"}
"""What stands for a word of the operator's own."""
REAL: Final = ("--ping", "--clear-latch", "--release-lock")
"""What asks hosts even without a gate: `--plan` has nothing to say of it."""
STAND_INS: Final = ("--attest=C.", "--release-lock")
"""A drill of an earlier night, and a lock that nobody holds."""


def of(program: str) -> list[Command]:
    """Each command of that program, once."""
    found = {
        command.words: command
        for page in PAGES
        for command in commands(page)
        if command.words[0] == program
    }
    return list(found.values())


def filled(words: tuple[str, ...]) -> list[str]:
    """The words with something in place of what the reader is to put in.

    The lab's inventory gives access to the Proxmox nodes: there 0.6 takes no statement.
    """
    kept = [word for word in words if word != "…"]
    for placeholder, value in FILLED.items():
        kept = [re.sub(rf"(?<![A-Z]){placeholder}(?![A-Z])", value, word) for word in kept]
    return [word for word in kept if not word.startswith(("--inventory=", "--attest=0.6="))]


@pytest.mark.parametrize("command", of("pytest"), ids=str)
def test_a_run_is_accepted(command: Command, tmp_path: Path) -> None:
    words = filled(command.words[1:])
    planned = not any(word.startswith(REAL) for word in words)
    more = {"--lab", f"--reports={tmp_path}", *(["--plan"] if planned else [])} - set(words)
    ended = suite(*words, *sorted(more))
    assert ended.status == 0, ended.text


@pytest.mark.parametrize("command", of("python"), ids=str)
def test_a_module_takes_what_it_is_given(command: Command, tmp_path: Path) -> None:
    dash, module, *rest = command.words[1:]
    assert dash == "-m"
    if module == "pre_commit":
        assert "pre-commit" in (ROOT / "pyproject.toml").read_text()
        return
    assert importlib.util.find_spec(module), f"{command}: no such module"
    if module == "fixtures.applylog" and rest:
        assert applylog([*rest, f"--reports={tmp_path}"]) == NO_LOG
    elif module == "lab":
        lab_parser().parse_args(rest)
    elif module == "machines" and rest:
        options = machines_parser().parse_args(rest)
        named = getattr(options, "fault", [])
        known = {fault.name for fault in FAULTS}
        assert set([named] if isinstance(named, str) else named) <= known


def test_the_guide_has_every_phase_in_order() -> None:
    table, _, _ = GUIDE.read_text("utf-8").partition("\n## ")
    rows = re.findall(r"(?m)^\| ([A-Z0-9, ]+) \|", table)
    named = [phase for row in rows for phase in row.split(", ")]
    assert named == [phase.value.upper() for phase in Phase]


def test_the_guide_states_what_only_a_human_can() -> None:
    text = GUIDE.read_text("utf-8")
    unsaid = {gate.id for gate in GATES if gate.attested and f'--attest="{gate.id}=' not in text}
    assert unsaid == {"P4"}, "whoever authorizes F6 has said so with --authorize"


def test_the_guides_statement_of_the_snapshots_is_taken_where_they_cannot_be_asked_for(
    tmp_path: Path,
) -> None:
    """The lab's inventory gives access to every Proxmox node; Wetopi's gives access to none."""
    said = [
        word
        for command in commands(GUIDE)
        for word in command.words
        if word.startswith("--attest=0.6=")
    ]
    assert said
    wetopi = load_inventory(Path(WETOPI))
    for each in said:
        text = each.removeprefix("--attest=0.6=")
        stated = partial(Statement, "0.6", text, "Ada", "2026-08-30T00:00:00Z")
        assert names_the_rest(stated, wetopi) == ()
    (typed,) = (each.words[1:] for each in of("pytest") if said[0] in each.words)
    ended = suite(*typed, "--plan", f"--inventory={WETOPI}", f"--reports={tmp_path}")
    assert ended.status == 0, ended.text


def test_the_pages_name_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text("utf-8")))
    named = {
        word: page.name
        for page in PAGES
        for line in re.findall(r"(?:^|`)make ([^`\n#]+)", page.read_text("utf-8"), re.MULTILINE)
        for word in line.split()
        if "=" not in word
    }
    assert {word: page for word, page in named.items() if word not in targets} == {}


def test_the_guide_plans_the_plan_that_is_judged() -> None:
    tofu = load_inventory(Path(WETOPI)).tofu
    assert tofu is not None
    (line,) = re.findall(r"(?m)^tofu .*? plan .*$", GUIDE.read_text("utf-8"))
    _, chdir, _, out, *_ = shlex.split(line, comments=True)
    assert tofu.chdir.endswith(f"/{chdir.removeprefix('-chdir=')}")
    assert out == f"-out={tofu.plan}"


@pytest.mark.thorough
def test_the_night_of_the_guide_ends_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command of its blocks from phase 0 to G, typed in order on one embedded cluster."""
    for words in night():
        typed = [
            word.replace("<SHA-256>", _planned(tmp_path)) if "<SHA-256>" in word else word
            for word in words
        ]
        ended = suite(*typed, "--lab", f"--reports={tmp_path}")
        assert ended.status == 0, f"{typed}\n{ended.text}"
    assert applylog(["dod", f"--reports={tmp_path}"]) == 0
    assert "\ncomplete: " in capsys.readouterr().out


def night() -> list[list[str]]:
    """The arguments of each run, but what stands in for the drills of C."""
    text = GUIDE.read_text("utf-8")
    blocks = text[text.index("\n## Phase 0") : text.index("\n## CLEANUP STOP")]
    runs = [filled(each.words[1:]) for each in of_blocks(GUIDE.name, blocks)]
    found = [words for words in runs if not any(word.startswith(STAND_INS) for word in words)]
    assert len(found) > len(Phase)
    return found


def _planned(reports: Path) -> str:
    """The digest of the plan that F0.plan judged last."""
    judged = [line for line in log_lines(reports) if line.get("gate") == "F0.plan"]
    digest: str = re.findall("[0-9a-f]{64}", str(judged[-1]["facts"]))[-1]
    return digest
