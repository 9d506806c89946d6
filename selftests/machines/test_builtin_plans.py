"""An inventory whose gateway is a resource of OpenTofu's built-in provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core import inventory_file
from machines import tofu, tofu_builtin
from selftests.gates.real_plans import FOLDER, decided, replayed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("facts", "right"),
    [
        ((tofu_builtin.RESOURCE, tofu_builtin.NICS), ("PASS", "192.168.96.31/20")),
        ((tofu_builtin.RESOURCE, "network_device"), ("UNKNOWN", "no list of NICs at `network_")),
        ((tofu_builtin.RESOURCE, "input"), ("UNKNOWN", "no list of NICs at `input`")),
        ((tofu_builtin.RESOURCE, "input.cores"), ("UNKNOWN", "no list of NICs at `input.cores`")),
        (("terraform_data.other", tofu_builtin.NICS), ("UNKNOWN", "speaks 0 times of")),
        (("terraform_data.rendered", tofu_builtin.NICS), ("FAIL", "also changes")),
    ],
)
def test_an_inventory_may_say_that_the_gateway_is_of_the_built_in_provider(
    tmp_path: Path, inventory_text: str, facts: tuple[str, str], right: tuple[str, str]
) -> None:
    resource, nics = facts
    said_of_it = {**tofu.FACTS, "resource": resource, "nics": nics}
    del said_of_it["ip_config"]
    lines = [line for line in inventory_text.splitlines() if not line.startswith("tofu: ")]
    assert len(lines) == len(inventory_text.splitlines()) - 1
    path = tmp_path / "builtin.yaml"
    path.write_text("\n".join([*lines, f"tofu: {said_of_it}", ""]))
    verdict, said = decided(inventory_file.load(path), replayed(FOLDER / "builtin.json"))
    assert (verdict, right[1] in said) == (right[0], True), said
