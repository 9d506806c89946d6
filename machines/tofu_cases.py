"""The plans that F0.plan is tried on: how each differs from the reviewed one, and what is right."""

from __future__ import annotations

from typing import Final

from machines import tofu, tofu_builtin
from machines import tofu_changes as changes
from machines.tofu import MODULE, Change
from machines.tofu_case import Case

CASES: Final = (
    Case("leg", "PASS", "192.168.96.31/20"),
    Case("nothing", "FAIL", "adds no NIC", leg=False),
    Case(
        "nic-first",
        "FAIL",
        "NIC 0",
        changes.variables(changes.FIRST_NIC, f"{changes.NEW_NIC},{changes.FIRST_NIC}"),
        leg=False,
    ),
    Case(
        "nic-too",
        "FAIL",
        "NIC 1",
        changes.variables(changes.SECOND_NIC, changes.SECOND_NIC.replace("vmbr0", "vmbr1")),
    ),
    Case(
        "two-nics",
        "FAIL",
        "would have 4",
        changes.variables(changes.COMMENT, f"{changes.SECOND_NIC},"),
    ),
    Case(
        "firewall",
        "FAIL",
        "firewall",
        changes.variables(changes.NEW_NIC, changes.NEW_NIC.replace("false", "true")),
    ),
    Case(
        "bridge",
        "FAIL",
        "bridge",
        changes.variables(changes.NEW_NIC, changes.NEW_NIC.replace("vmbr2", "vmbr3")),
    ),
    Case("address", "FAIL", "not a free one", changes.variables("192.168.96.31", "192.168.69.31")),
    Case("cores-too", "FAIL", "changes `cpu`", changes.variables("cores     = 2", "cores     = 3")),
    Case("replaced", "FAIL", "replaces", changes.variables('"ns3243421"', '"ns3226939"')),
    Case("replaced-by-hand", "FAIL", "replaces", arguments=(f"-replace={tofu.FACTS['resource']}",)),
    Case(
        "other-vm",
        "FAIL",
        changes.ADDRESS_OF_OTHER,
        changes.variables("cores     = 4", "cores     = 5"),
    ),
    Case(
        "other-replaced",
        "FAIL",
        changes.ADDRESS_OF_OTHER,
        changes.variables('"ns3249468"', '"ns3226939"'),
    ),
    Case(
        "other-destroyed",
        "FAIL",
        f"destroys, replaces or forgets `{changes.ADDRESS_OF_OTHER}",
        changes.variables(changes.OTHER_BEGINS, changes.OTHER_BEGINS.replace("ops01", "ops02")),
    ),
    Case("all-destroyed", "FAIL", "destroys", arguments=("-destroy",)),
    Case("forgotten", "FAIL", "forgets `terraform_data.rendered`", changes.main(changes.REMOVED)),
    Case(
        "moved",
        "PASS",
        "`terraform_data.rendered` → `terraform_data.written`",
        changes.main(changes.MOVED),
    ),
    Case("imported", "FAIL", "imports", changes.main(changes.RENDERED + changes.SPARE)),
    Case(
        "cloud-init",
        "PASS",
        "'cloud-init': '192.168.96.31/20'",
        given=(Change(MODULE, changes.ONE_ADDRESS, changes.EVERY_ADDRESS),),
    ),
    Case(
        "sensitive",
        "PASS",
        "192.168.96.31/20",
        given=changes.module(
            changes.BRIDGE, changes.BRIDGE.replace("network", "sensitive(network") + ")"
        ),
    ),
    # What changed behind OpenTofu's back.
    Case(
        "drift-of-addresses",
        "PASS",
        "ipv4_addresses",
        changes.behind_its_back(changes.GATEWAY, "192.0.2.101", "192.0.2.99"),
    ),
    Case(
        "drift-of-cores",
        "FAIL",
        "`cpu` drifted",
        changes.behind_its_back(changes.GATEWAY, '"cores": 2', '"cores": 8'),
    ),
    Case(
        "drift-of-a-nic",
        "FAIL",
        "`network_device` drifted",
        changes.behind_its_back(changes.GATEWAY, "BC:24:11:00:5F:01", "BC:24:11:00:FF:01"),
    ),
    Case(
        "drift-all-gone",
        "FAIL",
        "is gone",
        changes.behind_its_back(changes.GATEWAY, '"vm_id": 8031', None),
    ),
    Case(
        "drift-elsewhere",
        "PASS",
        f"{changes.ADDRESS_OF_OTHER}.proxmox_virtual_environment_vm.this`: ipv4_addresses",
        changes.behind_its_back(changes.OTHER, "192.0.2.100", "192.0.2.98"),
    ),
    Case(
        "drift-elsewhere-undone",
        "FAIL",
        changes.ADDRESS_OF_OTHER,
        changes.behind_its_back(changes.OTHER, '"cores": 4', '"cores": 8'),
    ),
    # What is not known, or no plan.
    Case(
        "nics-unknown",
        "FAIL",
        changes.ADDRESS_OF_OTHER,
        changes.module("for_each = var.vm.nics", 'for_each = timestamp() == "" ? [] : var.vm.nics'),
    ),
    Case(
        "bridge-unknown",
        "UNKNOWN",
        "`bridge` of the new NIC is known after the apply only",
        changes.module(
            changes.BRIDGE,
            'bridge   = network_device.value.bridge == "vmbr2" ? substr(timestamp(), 0, 5) : '
            "network_device.value.bridge",
        ),
    ),
    Case(
        "precondition",
        "UNKNOWN",
        "incomplete",
        changes.main(changes.RENDERED + changes.CHECKED),
        errors=True,
    ),
    Case(
        "unreadable-vm",
        "UNKNOWN",
        "incomplete",
        changes.behind_its_back(changes.OTHER, '"vm_id": 8001', '"vm_id": '),
        errors=True,
    ),
    Case(
        "targeted-at-gateway",
        "PASS",
        "192.168.96.31/20",
        arguments=(f"-target={tofu.FACTS['resource']}",),
    ),
    Case("refresh-only", "UNKNOWN", "speaks 0 times", arguments=("-refresh-only",)),
    Case(
        "targeted",
        "UNKNOWN",
        "speaks 0 times",
        arguments=(f"-target={changes.ADDRESS_OF_OTHER}",),
    ),
    Case("no-file", "UNKNOWN", "No such file", damage=changes.gone),
    Case("cut-off", "UNKNOWN", "not a valid zip file", damage=changes.cut_off),
    Case(
        "other-version",
        "UNKNOWN",
        "created by OpenTofu or Terraform 1.10.5",
        damage=changes.of_another_version,
    ),
    Case(
        "not-initialized", "UNKNOWN", "there is no package for", damage=changes.without_its_provider
    ),
    Case("a-state", "UNKNOWN", "describes no plan", damage=changes.a_state),
    *tofu_builtin.CASES,
)
"""Each is made by OpenTofu and judged by the suite in `make machines`; what OpenTofu told of each
is kept in `selftests/gates/plans/`."""
