"""What the table says of statements and deferrals is what the gates' tests can do."""

from __future__ import annotations

import ast

from fixtures.gates import GATES
from selftests.project.tree import ROOT, parsed


def gates_with(fixture: str) -> set[str]:
    """Ids of the gates whose test takes that fixture, or one that takes it."""
    through = {fixture} | {
        each.name for each in _functions("fixtures/session", "*.py") if fixture in _taken(each)
    }
    return {_gate(test) for test in _functions("tests", "test_*.py") if _taken(test) & through}


def _functions(folder: str, names: str) -> list[ast.FunctionDef]:
    paths = sorted((ROOT / folder).rglob(names))
    nodes = [node for path in paths for node in parsed(path).body]
    return [node for node in nodes if isinstance(node, ast.FunctionDef)]


def _taken(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}


def _gate(test: ast.FunctionDef) -> str:
    (gate,) = (
        str(each.args[0].value)
        for each in test.decorator_list
        if isinstance(each, ast.Call) and isinstance(each.args[0], ast.Constant)
    )
    return gate


def test_gates_that_read_a_statement_are_those_that_take_one() -> None:
    taking = {gate.id for gate in GATES if gate.attested or gate.attestable}
    by_authorizing = {gate.id for gate in GATES if gate.attested and gate.authorized}
    assert gates_with("statement") == taking - by_authorizing


def test_gates_with_a_way_out_of_a_cleanup_stop_are_those_that_take_its_statement() -> None:
    assert gates_with("cleanup") == {gate.id for gate in GATES if gate.remedied}


def test_gates_that_can_be_deferred_are_those_that_the_runbook_defers() -> None:
    assert gates_with("defer") == {gate.id for gate in GATES if gate.deferrable}
