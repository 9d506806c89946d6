"""What `qm` and the first control plane tell: forms as Proxmox VE's source prints them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.inventory import ProxmoxNode
from fixtures.core.requests import HostCommand, Output, Silence
from fixtures.observe.answers import Misread, Unknown
from fixtures.observe.first_start import FOLDER, parse_born, parse_created
from fixtures.observe.first_start import ask as ask_first_start
from fixtures.observe.proxmox import Detail, Proxmox, parse_detail, parse_tree
from selftests.gates.world import wetopi
from selftests.observe.damage import quick

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixtures.core.requests import Answer, Request

AT = datetime(2026, 8, 30, 12, 0, tzinfo=UTC)
TREE = """\
`-> golden                      2026-08-20 09:00:00     no-description
 `-> pre-rke2-apply             2026-08-29 23:59:59     before phase B
  `-> current                                           You are here!
"""
# A second root, and a name that leaves no room for padding.
BRANCHED = """\
`-> lost_parent                 2026-08-01 00:00:00     no-description
`-> pre-rke2-apply              2026-08-29 23:59:59     pre-rke2-apply-2 2026-01-01 00:00:00 x
 `-> current                                            You are here!
 `-> a-name-of-forty-characters-which-is-most 2026-08-30 00:00:00     \x1b[31mred\x07
"""
PROXMOX = (
    ProxmoxNode("ns3243421", "192.0.2.11", 22, "root"),
    ProxmoxNode("ns3226939", "192.0.2.12", 22, "ops"),
)
CLUSTER = replace(wetopi(), proxmox=PROXMOX)


class Answers:
    """Answers each command by the first of these whose key is in it."""

    def __init__(self, **by_words: tuple[bytes, bytes, int]) -> None:
        self.by_words = by_words

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        return {request: self._answer(request) for request in requests}

    refresh = ask

    def _answer(self, request: Request) -> Answer:
        assert isinstance(request, HostCommand)
        for words, (stdout, stderr, rc) in self.by_words.items():
            if words in request.command:
                return Output(request, rc, stdout, stderr, AT, 0.01)
        return Silence(request, f"{request.host} is silent", AT, 1.0)


def test_the_tree_is_read_by_its_names() -> None:
    assert parse_tree(TREE) == ("golden", "pre-rke2-apply")
    assert parse_tree("`-> current                       You are here!\n") == ()
    assert parse_tree(BRANCHED) == (
        "lost_parent",
        "pre-rke2-apply",
        "a-name-of-forty-characters-which-is-most",
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        TREE[: TREE.index(" `-> pre")],
        TREE.replace("`-> current", "`-> golden2"),
        TREE.replace("2026-08-29 23:59:59", " " * 19),
        TREE.replace("2026-08-29 23:59:59", "2026-08-29 23:59:591"),
        TREE + TREE.splitlines()[0] + "\n",
        TREE + "  `-> current      You are here!\n",
        "golden               no-parent            no-description\n",
        "NAME TIME\n" + TREE,
        TREE.replace("  `-> current  ", "  `-> current 2026-08-29 23:59:59"),
    ],
)
def test_what_is_no_whole_tree_is_not_read(text: str) -> None:
    with pytest.raises(Misread):
        parse_tree(text)


@quick
@given(st.text())
def test_any_description_is_only_a_description(text: str) -> None:
    line = text.split("\n", maxsplit=1)[0]
    tree = TREE.replace("before phase B", line)
    assert parse_tree(tree) == ("golden", "pre-rke2-apply")


@quick
@given(st.text(alphabet="`-> prekcunt0129:\n", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_tree, parse_detail, parse_born, parse_created):
        try:
            parse(text)
        except Misread:
            continue


def test_the_detail_is_a_time_and_what_is_amiss() -> None:
    taken = datetime(2026, 8, 29, 22, 0, tzinfo=UTC)
    seconds = int(taken.timestamp())
    assert parse_detail(f"snaptime: {seconds}\n") == Detail(taken, "")
    assert parse_detail(f"snapstate: prepare\nsnaptime: {seconds}\n") == Detail(taken, "prepare")
    for text in ("", "snapstate: delete\n", "snaptime: 0\n", "snaptime: soon\n", "cores: 4\n"):
        with pytest.raises(Misread):
            parse_detail(text)


def test_the_folder_knows_when_it_was_made() -> None:
    assert parse_born("1756512000 directory\n") == datetime(2025, 8, 30, tzinfo=UTC)
    for text in ("0 directory\n", "- directory\n", "1756512000 regular file\n", ""):
        with pytest.raises(Misread):
            parse_born(text)


def test_root_needs_no_sudo_and_each_host_is_asked_once_for_its_time() -> None:
    asked = [(each.host, each.command) for each in Proxmox.snapshots.requests(CLUSTER)]  # type: ignore[union-attr]
    assert ("ns3243421", "qm listsnapshot 8011") in asked
    assert ("ns3243421", "qm listsnapshot 8031") in asked
    assert ("ns3226939", "sudo -n qm listsnapshot 8012") in asked
    assert len(asked) == len(set(asked))
    assert {host for host, _ in asked} == {"ns3243421", "ns3226939", "rke-cp01"}
    assert not any(each.stdin or each.secret for each in Proxmox.snapshots.requests(CLUSTER))  # type: ignore[union-attr]


def test_nothing_is_asked_without_access() -> None:
    nobody = replace(CLUSTER, proxmox=())
    assert Proxmox.snapshots.requests(nobody) == []
    seen = Proxmox(nobody, Answers()).snapshots()
    assert (seen.vms, seen.first_start) == ((), None)


def good() -> dict[str, tuple[bytes, bytes, int]]:
    return {
        "listsnapshot": (TREE.encode(), b"", 0),
        "qm config": (b"snaptime: 1788048000\n", b"", 0),
        "date": (b"1788091200.0", b"", 0),
        FOLDER: (b"1788050000 directory\n", b"", 0),
    }


def test_a_silent_node_hides_no_other() -> None:
    seen = Proxmox(CLUSTER, Answers(**good())).snapshots()
    assert [each.machine for each in seen.vms] == ["rke-cp01", "rke-cp02", "wetopi-natgw01"]
    assert all(each.names == ("golden", "pre-rke2-apply") for each in seen.vms)
    assert seen.first_start is not None
    assert seen.first_start.folder == datetime.fromtimestamp(1788050000, UTC)
    assert isinstance(seen.first_start.cluster, Unknown)


def test_a_description_in_another_encoding_is_no_reason_to_know_nothing() -> None:
    latin = TREE.replace("before", "avant\xe9").encode("latin-1")
    seen = Proxmox(CLUSTER, Answers(**good() | {"listsnapshot": (latin, b"", 0)})).snapshots()
    assert seen.vms[0].names == ("golden", "pre-rke2-apply")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            (b"", b"Configuration file 'nodes/ns3243421/qemu-server/8011.conf' does not exist", 2),
            "ns3243421 knows no VM 8011, so rke-cp01 cannot be asked for there",
        ),
        ((b"", b"ipcc_send_rec[1] failed: Connection refused", 255), "ended with rc 255"),
        ((b"", b"bash: line 1: qm: command not found", 127), "could not be started"),
        ((TREE.encode(), b"", 1), "ended with rc 1"),
        ((b"", b"", 0), "cannot be read"),
    ],
)
def test_an_error_is_never_the_absence_of_a_snapshot(
    answer: tuple[bytes, bytes, int], why: str
) -> None:
    seen = Proxmox(CLUSTER, Answers(**good() | {"listsnapshot": answer})).snapshots()
    assert isinstance(seen.vms[0].names, Unknown)
    assert why in seen.vms[0].names.reason


ABSENT = f"stat: cannot statx '{FOLDER}': No such file or directory\n".encode()
UNIT = (
    "Id=rke2-server.service\nLoadState={load}\nActiveState={active}\nSubState=dead\nResult=success\n"
    "NRestarts=0\nUnitFileState=\nExecMainStartTimestamp={started}\n"
)


@pytest.mark.parametrize(
    ("active", "started", "known"),
    [
        ("inactive", "", True),
        ("failed", "", True),
        ("inactive", "Sun 2026-08-30 01:00:00 UTC", False),
        ("activating", "", False),
    ],
)
def test_no_folder_means_no_start_only_if_the_unit_agrees(
    active: str, started: str, known: bool
) -> None:
    unit = UNIT.format(load="loaded", active=active, started=started).encode()
    first = {FOLDER: (b"", ABSENT, 1), "systemctl": (unit, b"", 0)}
    seen = Proxmox(CLUSTER, Answers(**good() | first)).snapshots().first_start
    assert seen is not None
    if known:
        assert seen.folder is None
    else:
        assert isinstance(seen.folder, Unknown)
        assert "who removed it" in seen.folder.reason


def test_the_cluster_knows_its_first_namespace() -> None:
    uid = "8d7c0b1e-1111-4222-8333-444455556666"
    made = {"name": "kube-system", "uid": uid, "creationTimestamp": "2026-08-30T01:02:03Z"}
    item = json.dumps({"kind": "Namespace", "metadata": made})
    assert parse_created(item) == datetime(2026, 8, 30, 1, 2, 3, tzinfo=UTC)
    with pytest.raises(Misread):
        parse_created(item.replace("kube-system", "default"))
    assert len(ask_first_start(CLUSTER)) == 4
