"""Plans of the real OpenTofu, as it told them, each with its right verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lab import plan
from machines import tofu
from machines.tofu_cases import CASES
from selftests.gates.real_plans import FOLDER, PRODUCTION, cluster, decided, replayed
from selftests.lab.world import world_at

if TYPE_CHECKING:
    from machines.tofu_case import Case

# What a recording lacks, and what only a failed check or drift adds.
CUT = {"output_changes", "prior_state", "relevant_attributes", "timestamp"}


def leg(name: str = "drift-of-addresses") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())["show"]["document"]
    return document


def of_gateway(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = [
        each for each in document["resource_changes"] if each["address"] == tofu.FACTS["resource"]
    ]
    change: dict[str, Any] = found["change"]
    return change


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_verdict_is_right(case: Case) -> None:
    verdict, said = decided(cluster(case, PRODUCTION), replayed(FOLDER / f"{case.name}.json"))
    assert (verdict, case.says in said) == (case.verdict, True), said
    assert tofu.PASSWORD not in said


def test_every_case_is_recorded_and_nothing_else() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {case.name for case in CASES}


def test_what_is_planted_is_in_the_plan() -> None:
    assert tofu.PASSWORD in json.dumps(leg())


def test_the_lab_tells_a_plan_as_the_real_one_does() -> None:
    real, ours = leg(), plan.document(world_at("f"))
    assert set(ours) == set(real) | CUT
    assert ours["format_version"] == real["format_version"]
    assert ours["terraform_version"] == real["terraform_version"]
    for name in ("resource_drift", "resource_changes"):
        assert set(ours[name][0]) == set(real[name][-1])
        assert set(ours[name][0]["change"]) == set(real[name][-1]["change"])
    change, lab_change = of_gateway(real), of_gateway(ours)
    assert lab_change["after_unknown"] == change["after_unknown"]
    for state in ("before", "after"):
        assert set(lab_change[state]) ^ set(change[state]) <= {"id"}
        assert [set(nic) for nic in lab_change[state]["network_device"]] == [
            set(nic) for nic in change[state]["network_device"]
        ]
    assert lab_change["after"]["network_device"][-1]["mac_address"] is None
    assert change["after"]["network_device"][-1]["mac_address"] is None


def test_a_plan_does_not_name_blocks_that_are_dynamic() -> None:
    """The NICs are; drift of them counts all the same (`drift-of-a-nic`)."""
    module = leg()["configuration"]["root_module"]["module_calls"]["vm"]["module"]
    assert "initialization" in module["resources"][0]["expressions"]
    assert "network_device" not in module["resources"][0]["expressions"]
