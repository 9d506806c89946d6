"""The controller's side of the lab, judged by the suite's own gates on real commands."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from fixtures.core import inventory_file
from fixtures.core.requests import CONTROLLER, HostCommand
from fixtures.judge.ansible_hosts import reaches_all
from fixtures.judge.cluster_facts import facts_agree, variables_agree
from fixtures.judge.findings import together
from fixtures.judge.preconditions import decisions_merged, infrastructure_reviewed, token_private
from fixtures.observe import tools
from fixtures.observe.ansible_hosts import AnsibleHosts
from fixtures.observe.checkouts import Checkouts
from fixtures.observe.group_variables import GroupVariablesOf
from fixtures.observe.token_file import TokenFiles
from fixtures.remote import controller as commands
from machines import controller, dirs, encryption_faults, lab, plan, precondition_faults
from machines import inventory as lab_inventory
from selftests.gates.real_plans import Commands

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fixtures.core.inventory import Cluster
    from fixtures.core.requests import Output
    from fixtures.judge.findings import Findings
    from machines.fault import Fault

TOKEN = "5ea1" * 8
ON_CONTROLLER = [fault for fault in precondition_faults.FAULTS if fault.phase is plan.Phase.ZERO]


def _run(request: HostCommand) -> Output:
    return commands.run(request, 1 << 20)


@pytest.fixture
def cluster(state: Path) -> Cluster:
    """The laid-out controller of a lab without RKE2, as its inventory tells of it."""
    dirs.make_private(state)
    commits = controller.lay_out(TOKEN)
    lab.Facts(plan.Phase.ZERO, "layers").save()
    text = lab_inventory.text(
        key="key",
        known_hosts="known_hosts",
        controller=controller.PATHS,
        group_vars=controller.GROUP_VARS,
        commits=commits,
        versions={"ansible-core": controller.ANSIBLE_VERSION},
    )
    lab.inventory_path().write_text(text)
    return inventory_file.load(lab.inventory_path())


@pytest.fixture
def gates(cluster: Cluster) -> dict[str, Callable[[], Findings]]:
    """What speaks against each gate of phase 0 that is asked of the controller alone."""
    asker = Commands(_run)
    checkouts = Checkouts(cluster, asker)
    return {
        "0.1": lambda: decisions_merged(checkouts.docs()),
        "0.2": lambda: infrastructure_reviewed(checkouts.infrastructure()),
        "0.4": lambda: token_private(TokenFiles(cluster, asker).seen()),
        "0.5": lambda: reaches_all(AnsibleHosts(cluster, asker).rendered(), cluster),
        "0.7": lambda: together(
            lambda: facts_agree(cluster),
            lambda: variables_agree(GroupVariablesOf(cluster, asker).named(), cluster),
        ),
    }


def test_nothing_speaks_against_it(gates: dict[str, Callable[[], Findings]]) -> None:
    assert {gate: ask() for gate, ask in gates.items()} == dict.fromkeys(gates, ())


@pytest.mark.parametrize("fault", ON_CONTROLLER, ids=lambda fault: fault.name)
def test_each_fault_is_found_by_its_gate_alone_and_mended(
    fault: Fault, gates: dict[str, Callable[[], Findings]]
) -> None:
    fault.break_()
    found = {gate: "; ".join(ask()) for gate, ask in gates.items()}
    ((gate, says),) = [(gate, said) for gate, said in found.items() if said]
    assert (gate, says) == (BY_FAULT[fault.name][0], says)
    assert BY_FAULT[fault.name][1] in says
    fault.mend()
    assert not any(ask() for ask in gates.values())


BY_FAULT = {
    "checkout-dirty": ("0.2", "main.yml"),
    "token-readable": ("0.4", "mode 0644"),
    "jump-missing": ("0.5", "rke-cp02"),
}


def test_the_faults_named_here_are_all_there_are() -> None:
    assert [fault.name for fault in ON_CONTROLLER] == list(BY_FAULT)


@pytest.mark.usefixtures("cluster")
def test_what_is_private_is_private_from_the_start(state: Path) -> None:
    modes = {
        name: stat.S_IMODE((state / path).stat().st_mode)
        for name, path in {**controller.PATHS, "folder": controller.FOLDER}.items()
    }
    assert modes["node_token"] == modes["hosts_json"] == 0o600
    assert modes["ansible_playbook"] == modes["folder"] == 0o700
    assert TOKEN not in controller.git("log", "--all", "--patch")


def test_ansible_tells_the_pinned_version_and_no_more(cluster: Cluster) -> None:
    text = commands.run(_asked(cluster, "--version"), 1 << 20).text
    assert tools.parse_version(text, "ansible-core") == "2.21.3"
    refused = commands.run(_asked(cluster, "site.yml"), 1 << 20)
    assert refused.rc == 2
    assert "only tells its version" in refused.complaint


def _asked(cluster: Cluster, argument: str) -> HostCommand:
    path = cluster.controller["ansible_playbook"]
    return HostCommand(CONTROLLER, f"{path} {argument}", 5.0)


def test_git_heeds_no_setting_of_the_operator(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[commit]\n\tgpgSign = true\n[init]\n\tdefaultBranch = other\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    dirs.make_private(state)
    controller.lay_out(TOKEN)
    assert controller.git("rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_plaintext_first_still_reads_what_was_encrypted() -> None:
    keys = {"aescbc": {"keys": [{"name": "aescbckey", "secret": "x"}]}}
    before = {"resources": [{"resources": ["secrets"], "providers": [keys, {"identity": {}}]}]}
    after = json.loads(encryption_faults.plaintext_first(json.dumps(before)))
    assert after["resources"][0]["providers"] == [{"identity": {}}, keys]
