"""The lab's qm: trees and texts as Proxmox VE's source makes them; nobody has a capture of it."""

from __future__ import annotations

from fixtures.observe.first_start import FOLDER, parse_born
from fixtures.observe.proxmox import parse_detail, parse_tree
from lab.proxmox import NAME, first_start
from selftests.lab.world import ask, world_at

FIRST = "ns3243421"
CONFIG = f"sudo -n qm config 8011 --snapshot {NAME}"


def test_a_tree_is_aligned_and_in_local_time() -> None:
    said = ask(world_at("0"), FIRST, "sudo -n qm listsnapshot 8011")
    # The second machine's is seven seconds after the bastion's and the gateway's: 10:10:14 UTC.
    assert said.out == (
        "`-> pre-rke2-apply              2026-11-30 12:10:14     no-description\n"
        " `-> current                                            You are here!\n"
    )
    assert (said.rc, said.err, said.known) == (0, "", True)
    assert parse_tree(said.out) == (NAME,)


def test_the_time_of_a_snapshot_is_a_number_beside_others() -> None:
    world = world_at("c", ("vm-snapshot-incomplete", "rke-cp01"), ("vm-snapshot-late", "rke-cp02"))
    said = ask(world, FIRST, f"{CONFIG} | grep -E '^(snapstate|snaptime):'")
    assert parse_detail(said.out).state == "prepare"
    assert "cores: 4" in ask(world, FIRST, CONFIG).out
    late = ask(world, "ns3226939", f"sudo -n qm config 8012 --snapshot {NAME} | grep ^snaptime:")
    assert parse_detail(late.out).taken > first_start(world.seed)


def test_only_its_own_vms_are_known_and_only_to_root() -> None:
    world = world_at("c", ("vm-snapshot-missing", "rke-cp01"), ("vm-elsewhere", "rke-cp02"))
    gone = ask(world, "ns3226939", "sudo -n qm listsnapshot 8012")
    assert gone.rc == 2
    assert gone.err == (
        "Configuration file 'nodes/ns3226939/qemu-server/8012.conf' does not exist\n"
    )
    assert parse_tree(ask(world, FIRST, "sudo -n qm listsnapshot 8011").out) == (f"{NAME}-2",)
    assert ask(world, FIRST, CONFIG).err == f"snapshot '{NAME}' does not exist\n"
    assert ask(world, FIRST, "qm listsnapshot 8011").rc == 255
    assert ask(world, "rke-cp01", "sudo -n qm listsnapshot 8011").err == (
        "sudo: qm: command not found\n"
    )
    assert not ask(world, FIRST, "sudo -n qm rollback 8011 x").known


def test_the_servers_folder_is_as_old_as_the_first_start() -> None:
    line = f"sudo -n stat -c '%W %F' {FOLDER}"
    assert ask(world_at("0"), "rke-cp01", line).rc == 1
    world = world_at("g")
    assert parse_born(ask(world, "rke-cp01", line).out) == first_start(world.seed)
