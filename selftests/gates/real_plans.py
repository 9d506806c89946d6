"""What the real OpenTofu told of the plans of `machines/tofu_cases.py`, and judging them.

`python -m machines plans --record` writes `plans/` anew; `make machines` compares.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fixtures.core.inventory_file import load
from fixtures.core.requests import HostCommand, Output
from fixtures.core.verdicts import Undecided
from fixtures.judge.plan_changes import told
from fixtures.judge.tofu import adds_one_nic
from fixtures.observe.tofu import Plans
from machines import tofu, tofu_builtin
from selftests.gates.world import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Answer, Request
    from machines.tofu_case import Case

FOLDER: Final = Path(__file__).parent / "plans"
PRODUCTION: Final = "/infrastructure/tofu/proxmox/environments/prod"
"""Stands in recordings for the folder that a plan was made in."""

_DIGEST: Final = f"{'ab' * 32}  {PRODUCTION}/{tofu.PLAN}\n"
_UNREAD: Final = ("prior_state", "relevant_attributes", "output_changes", "timestamp")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Commands:
    """An asker that has nothing but commands."""

    run: Callable[[HostCommand], Output]

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        """Run each."""
        found: dict[Request, Answer] = {}
        for request in requests:
            assert isinstance(request, HostCommand)
            found[request] = self.run(request)
        return found

    refresh = ask


def cluster(case: Case, production: str, program: str = "tofu") -> Cluster:
    """A cluster whose saved plan is that case's, on the controller.

    Args:
        case: which one.
        production: the folder with the plan.
        program: OpenTofu.
    """
    found = load(ROOT / "inventories" / "wetopi.yaml")
    assert found.tofu is not None
    resource = tofu.FACTS["resource"]
    facts = replace(found.tofu, on_controller=True, program=program, chdir=production)
    facts = replace(facts, plan=tofu.PLAN, resource=resource)
    if case.builtin:
        nics = tuple(tofu_builtin.NICS.split("."))
        facts = replace(facts, resource=tofu_builtin.RESOURCE, nics=nics, ip_config=())
    return replace(found, tofu=facts)


def decided(about: Cluster, run: Callable[[HostCommand], Output]) -> tuple[str, str]:
    """The verdict on the saved plan, and what is said or, of a PASS, recorded."""
    try:
        plan = Plans(about, Commands(run)).saved()
        findings = adds_one_nic(plan, about, None)
    except Undecided as undecided:
        return "UNKNOWN", str(undecided)
    return ("FAIL", "; ".join(findings)) if findings else ("PASS", str(told(plan, about)))


def recorded(outputs: Sequence[Output], production: str) -> str:
    """The answers as they are kept: what no gate reads and what differs from run to run is cut."""
    parts = {_name(output.request): _listed(_part(output)) for output in outputs}
    text = _listed(parts) + "\n"
    return _UUID.sub("-".join("0" * n for n in (8, 4, 4, 4, 12)), text).replace(
        production, PRODUCTION
    )


def replayed(path: Path) -> Callable[[HostCommand], Output]:
    """A machine that answers as recorded."""
    parts = json.loads(path.read_text())

    def run(request: HostCommand) -> Output:
        part = parts[_name(request)]
        text = json.dumps(part["document"]) if "document" in part else part["stdout"]
        at = datetime(2026, 12, 1, tzinfo=UTC)
        return Output(request, part["rc"], text.encode(), part["stderr"].encode(), at, 0.1)

    return run


def _name(request: HostCommand) -> str:
    return "sha256sum" if request.command.startswith("sha256sum ") else "show"


def _part(output: Output) -> dict[str, str]:
    part = {"rc": json.dumps(output.rc), "stderr": json.dumps(output.stderr.decode())}
    try:
        document: dict[str, Any] = json.loads(output.text)
    except ValueError:
        stdout = _DIGEST if output.rc == 0 and _name(output.request) != "show" else output.text
        return part | {"stdout": json.dumps(stdout)}
    for name in _UNREAD:
        document.pop(name, None)
    if "planned_values" in document:
        document["planned_values"] = {}
    if "configuration" in document:
        root = _named_only(document["configuration"]["root_module"])
        document["configuration"] = {"root_module": root}
    told_ = {key: json.dumps(value) for key, value in document.items()}
    return part | {"document": _listed(told_)}


def _named_only(module: dict[str, Any]) -> dict[str, Any]:
    """A module of the configuration: which attributes its resources set, and not to what."""
    resources = [
        each | {"expressions": {key: {} for key in each.get("expressions", {})}}
        for each in module.get("resources", [])
    ]
    calls = {
        name: {"module": _named_only(call["module"])}
        for name, call in module.get("module_calls", {}).items()
    }
    return {"resources": resources, "module_calls": calls}


def _listed(parts: Mapping[str, str]) -> str:
    """An object of texts that are JSON already, each on a line."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {text}" for key, text in parts.items()) + "\n}"
