"""Imports point one way, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from selftests.project.tree import ROOT, imports, modules

# What each part may import of the project besides itself (docs/architecture.md has the picture).
MAY_IMPORT = {
    "fixtures": (),
    "fixtures.core": (),
    "fixtures.gates": (),
    "fixtures.options": (),
    "fixtures.applylog": ("fixtures.core", "fixtures.gates"),
    "fixtures.remote": ("fixtures.core",),
    "fixtures.observe": ("fixtures.core", "fixtures.remote"),
    "fixtures.judge": ("fixtures.core", "fixtures.gates", "fixtures.observe"),
    "fixtures.session": ("fixtures",),
    "tests": (
        "fixtures.core",
        "fixtures.gates",
        "fixtures.judge",
        "fixtures.observe",
        "fixtures.session.marks",
    ),
    "lab": ("fixtures.core.inventory",),
    "machines": ("fixtures.core.inventory",),
}
TOUCHES_PYTEST = ("fixtures.session", "fixtures.options", "lab.plugin", "tests")
HEAVY = {"paramiko", "kubernetes", "asyncssh", "aiohttp", "testinfra"}


def part_of(module: str) -> str:
    """The longest part of the table a module belongs to."""
    parts = [part for part in MAY_IMPORT if within(module, part)]
    return max(parts, key=len, default="")


def within(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def own(module: str) -> set[str]:
    return (imports(modules()[module]) & modules().keys()) - {module}


@pytest.mark.parametrize("module", modules())
def test_imports_only_what_its_part_may(module: str) -> None:
    part = part_of(module)
    assert part not in ("", "fixtures") or module == "fixtures", (
        f"{module} belongs to no part: say here and in docs/architecture.md what it may import"
    )
    allowed = (part, *MAY_IMPORT[part])
    wrong = {name for name in own(module) if not any(within(name, each) for each in allowed)}
    assert not wrong, f"{module} belongs to {part}, which may not import {sorted(wrong)}"


@pytest.mark.parametrize("module", modules())
def test_pytest_is_known_to_the_session_only(module: str) -> None:
    knows = {name.split(".")[0] for name in imports(modules()[module])} & {"pytest", "_pytest"}
    assert not knows or any(within(module, part) for part in TOUCHES_PYTEST), (
        f"{module} imports pytest; only {', '.join(TOUCHES_PYTEST)} may"
    )


def test_no_import_cycles() -> None:
    packages = {name for name in modules() if modules()[name].name == "__init__.py"}
    graph = {name: own(name) - packages for name in modules()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


def test_collecting_imports_nothing_heavy() -> None:
    script = (
        "import sys, pytest\n"
        "status = pytest.main(['-m', 'gate_c', '--collect-only', '-q'])\n"
        f"print('imported:', *sorted({HEAVY!r} & sys.modules.keys()))\n"
        "sys.exit(status)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "tests/phase_c" in run.stdout
    assert run.stdout.rstrip().endswith("imported:"), run.stdout.splitlines()[-1]
