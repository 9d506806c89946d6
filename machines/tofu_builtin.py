"""Plans of OpenTofu's built-in provider, terraform.io/builtin/terraform: one `terraform_data`.

There the gateway's address and the path of its NICs are others than of a Proxmox provider, as an
inventory may say; one attribute, `input`, holds everything.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from machines import tofu_changes as changes
from machines.tofu import MAIN, Change
from machines.tofu_case import Case

RESOURCE: Final = "terraform_data.gateway"
NICS: Final = "input.nics"

_CALL: Final = """\
module "vm" {
  source   = "../../modules/vm"
  for_each = var.vms
  name     = each.key
  vm       = each.value
  password = var.password
}
"""
_INPUT: Final = """\
input = {
    cores = var.vms["wetopi-natgw01"].cores
    nics  = var.vms["wetopi-natgw01"].nics
  }
"""
_NICS: Final = 'nics  = var.vms["wetopi-natgw01"].nics'
_GATEWAY: Final = f"""\
resource "terraform_data" "gateway" {{
  {_INPUT}\
  triggers_replace = [var.vms["wetopi-natgw01"].node_name]
}}
"""
_GIVEN: Final = (
    Change(MAIN, _CALL, _GATEWAY),
    Change(MAIN, "{ for name, vm in module.vm : name => vm.addresses }", "var.hypervisor"),
)
_NEVER: Final = 'timestamp() == ""'

_case: Final = partial(Case, given=_GIVEN, builtin=True)

CASES: Final = (
    _case("builtin", "PASS", "192.168.96.31/20"),
    _case("builtin-nothing", "FAIL", "adds no NIC", leg=False),
    _case(
        "builtin-replaced",
        "FAIL",
        "replaces",
        changes.variables('"ns3243421"', '"ns3226939"'),
    ),
    _case("builtin-replaced-by-hand", "FAIL", "replaces", arguments=(f"-replace={RESOURCE}",)),
    _case(
        "builtin-nic-between",
        "FAIL",
        "NIC 1",
        changes.variables(changes.SECOND_NIC, f"{changes.NEW_NIC},{changes.SECOND_NIC}"),
        leg=False,
    ),
    _case(
        "builtin-two-nics",
        "FAIL",
        "would have 4",
        changes.variables(changes.COMMENT, f"{changes.SECOND_NIC},"),
    ),
    _case(
        "builtin-bridge",
        "FAIL",
        "bridge",
        changes.variables(changes.NEW_NIC, changes.NEW_NIC.replace("vmbr2", "vmbr3")),
    ),
    _case(
        "builtin-cores-too",
        "FAIL",
        "changes `input`",
        changes.variables("cores     = 2", "cores     = 3"),
    ),
    _case(
        "builtin-other",
        "FAIL",
        "also changes `terraform_data.rendered`",
        changes.variables(changes.OTHER_BEGINS, changes.OTHER_BEGINS.replace("ops01", "ops02")),
    ),
    _case(
        "builtin-other-destroyed",
        "FAIL",
        "destroys, replaces or forgets `terraform_data.rendered`",
        changes.main(""),
    ),
    _case(
        "builtin-nics-unknown",
        "UNKNOWN",
        "which NICs the gateway gets is known after the apply only",
        changes.main(_NICS.replace("= ", f"= {_NEVER} ? [] : "), _NICS),
    ),
    _case(
        "builtin-input-unknown",
        "UNKNOWN",
        "which NICs the gateway gets is known after the apply only",
        changes.main(_INPUT.replace("= ", f"= {_NEVER} ? null : ", 1), _INPUT),
    ),
    _case(
        "builtin-precondition",
        "UNKNOWN",
        "incomplete",
        changes.main(changes.RENDERED + changes.CHECKED),
        errors=True,
    ),
)
"""Part of `tofu_cases.CASES`."""
