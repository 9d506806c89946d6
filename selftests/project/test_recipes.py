"""The lock files, the Makefile and the documents agree with each other."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from docs import gate_list, limit_list
from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

LOCKS = ("requirements-build.lock", "requirements.lock", "requirements-bench.lock")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
MAKE = re.compile(r"(?:^|`)make ([a-z]+)", re.MULTILINE)


def pins(lock: str) -> dict[str, str]:
    """Each requirement of a lock file, normalized name to its whole stanza."""
    stanzas = re.findall(r"^[^\s#]+==(?:.*\\\n)*.*", (ROOT / lock).read_text("utf-8"), re.MULTILINE)
    return {normal(stanza.split("==")[0]): stanza for stanza in stanzas}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_and_hashed(lock: str) -> None:
    lines = (ROOT / lock).read_text("utf-8").splitlines()
    requirements = [line for line in lines if re.match(r"[A-Za-z0-9]", line)]
    assert len(requirements) == len(pins(lock)) > 0
    for stanza in pins(lock).values():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", stanza), stanza.splitlines()[0]


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_package_source(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash=)|^\s*-[a-z] ", text, re.MULTILINE)
    assert "make lock" in text, "the header says how to write it anew"


def test_lock_covers_what_the_project_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(each for extra in extras for each in extra)]
    names = {normal(re.split(r"[<>=!~\[ ;]", each)[0]) for each in declared}
    pinned = pins("requirements.lock").keys() | pins("requirements-bench.lock").keys()
    assert names - pinned == set()


def test_one_setuptools_builds_and_runs() -> None:
    build, run, _ = (pins(lock)["setuptools"].split()[0] for lock in LOCKS)
    assert build == run, "pytest-dependency is built with the setuptools that is installed"


def test_every_make_command_in_the_documents_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = {
        (path.name, target)
        for path in DOCUMENTS
        for target in MAKE.findall(path.read_text("utf-8"))
    }
    assert {("README.md", "rehearse"), ("README.md", "check")} <= named
    assert not {each for each in named if each[1] not in targets}


def make(*words: str) -> str:
    """What make prints, whatever make these tests themselves were started by."""
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
    run = subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    assert {line.split()[1] for line in make().splitlines()} == targets


def test_clean_leaves_reports_alone() -> None:
    assert "reports" not in make("--dry-run", "clean")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    gone = [
        link
        for link in LINK.findall(document.read_text("utf-8"))
        if not (document.parent / link).exists()
    ]
    assert not gone


def test_each_decision_has_a_number_of_its_own() -> None:
    records = sorted((ROOT / "docs" / "adr").glob("*.md"))
    numbers = [f"{number:04}" for number in range(1, len(records) + 1)]
    assert [path.name[:5] for path in records] == [f"{number}-" for number in numbers]
    titles = [path.read_text("utf-8").splitlines()[0] for path in records]
    assert [title[:8] for title in titles] == [f"# {number}: " for number in numbers]


@pytest.mark.parametrize("written", [gate_list, limit_list])
def test_a_document_made_from_the_code_is_up_to_date(written: ModuleType) -> None:
    assert written.TARGET.read_text("utf-8") == written.render(), "run `make docs`"
