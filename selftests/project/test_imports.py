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
    "fixtures.gates": ("fixtures.core",),
    "fixtures.options": (),
    "fixtures.applylog": ("fixtures.core", "fixtures.gates"),
    "fixtures.remote": ("fixtures.core",),
    "fixtures.observe": ("fixtures.core", "fixtures.remote"),
    "fixtures.judge": ("fixtures.core", "fixtures.gates", "fixtures.observe"),
    "fixtures.drills": (
        "fixtures.core",
        "fixtures.gates",
        "fixtures.judge",
        "fixtures.observe",
        "fixtures.remote",
    ),
    "fixtures.trials": (
        "fixtures.core",
        "fixtures.drills",
        "fixtures.judge",
        "fixtures.observe",
    ),
    "fixtures.session": ("fixtures",),
    "tests": (
        "fixtures.core",
        "fixtures.drills",
        "fixtures.gates",
        "fixtures.judge",
        "fixtures.observe",
        "fixtures.session.marks",
        "fixtures.trials",
    ),
    "lab": ("fixtures.core.inventory",),
    "machines": ("fixtures.core.inventory",),
}
TOUCHES_PYTEST = ("fixtures.session", "fixtures.options", "lab.plugin", "tests")
# testinfra itself is a pytest plugin and so always there; its backends are not.
HEAVY = {
    "paramiko",
    "kubernetes",
    "websocket",
    "asyncssh",
    "aiohttp",
    "hypothesis",
    "testinfra.backend.paramiko",
}


def part_of(module: str) -> str:
    """The longest part of the table a module belongs to."""
    parts = [part for part in MAY_IMPORT if within(module, part)]
    return max(parts, key=len, default="")


def within(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def own(module: str) -> frozenset[str]:
    return (imports(modules()[module]) & modules().keys()) - {module}


def test_every_module_belongs_to_a_part() -> None:
    homeless = [name for name in modules() if part_of(name) in ("", "fixtures")]
    assert homeless == ["fixtures"], "say here and in docs/architecture.md what it may import"


def test_imports_point_one_way() -> None:
    wrong = {}
    for module in modules():
        part = part_of(module)
        allowed = (part, *MAY_IMPORT[part])
        against = [name for name in own(module) if not any(within(name, each) for each in allowed)]
        if against:
            wrong[module] = sorted(against)
    assert not wrong


def test_pytest_is_known_to_the_session_only() -> None:
    knows = [
        module
        for module, path in modules().items()
        if {name.split(".")[0] for name in imports(path)} & {"pytest", "_pytest"}
        and not any(within(module, part) for part in TOUCHES_PYTEST)
    ]
    assert not knows, f"only {', '.join(TOUCHES_PYTEST)} may import pytest"


def test_no_import_cycles() -> None:
    packages = {name for name in modules() if modules()[name].name == "__init__.py"}
    graph = {
        name: imports(path, run_time=True) & modules().keys() - packages - {name}
        for name, path in modules().items()
    }
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
