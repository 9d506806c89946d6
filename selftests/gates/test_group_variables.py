"""0.7: the playbooks' group variables have the inventory's facts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.inventory import GroupVars
from fixtures.judge.cluster_facts import compared, variables_agree
from fixtures.observe.answers import Misread
from fixtures.observe.group_variables import GroupVariablesOf, parse_variables
from selftests.gates.checkout_stand import Here, verdict
from selftests.gates.world import wetopi
from selftests.observe.damage import quick

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {fact: f"rke2_{fact}" for fact in GroupVars.FACTS}
GOOD = """\
# shared
rke2_vip: 10.72.0.20
rke2_node_lan: "10.72.0.0/23"
rke2_pods: 10.64.0.0/14
rke2_services: 10.68.0.0/16
rke2_tls_san: ["10.72.0.23", 10.72.0.20, 10.72.0.21, 10.72.0.22]
rke2_server_url: https://10.72.0.20:9345
grafana_password: !vault |
  $ANSIBLE_VAULT;1.1;AES256
  6231
empty:
"""


def judged(folder: Path, text: str | None, names: dict[str, str] = NAMES) -> tuple[str, str]:
    if text is not None:
        (folder / "all.yml").write_text(text)
    cluster = replace(
        wetopi(), controller={"infrastructure": folder}, group_vars=GroupVars("all.yml", names)
    )
    seen = GroupVariablesOf(cluster, Here())
    return verdict(lambda: variables_agree(seen.named(), cluster))


def test_variables_that_agree(tmp_path: Path) -> None:
    assert judged(tmp_path, GOOD) == ("PASS", "")
    assert judged(tmp_path, GOOD.replace("rke2_vip: 10.72.0.20", "rke2_vip: 10.72.0.20/23"))[0] == (
        "PASS"
    )
    listed = GOOD.replace('["10.72.0.23", 10.72.0.20, 10.72.0.21, 10.72.0.22]', "|SANS|")
    joined = listed.replace("|SANS|", "10.72.0.20,10.72.0.21, 10.72.0.22,10.72.0.23")
    assert judged(tmp_path, joined) == ("PASS", "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rke2_vip: 10.72.0.20", "rke2_vip: 10.72.0.200", "`vip` is `10.72.0.200`"),
        ("rke2_vip: 10.72.0.20", "rke2_vip: 10.72.0.20/24", "`10.72.0.20/24`"),
        ("10.72.0.0/23", "10.72.0.0/24", "`node_lan`"),
        ("10.64.0.0/14", "10.42.0.0/16", "this inventory says 10.64.0.0/14"),
        ("10.68.0.0/16", "10.68.0.0/17", "`services`"),
        (", 10.72.0.22]", "]", "`tls_san`"),
        (", 10.72.0.22]", ", 10.72.0.22, 10.72.0.99]", "10.72.0.99"),
        (":9345", ":6443", "`https://10.72.0.20:6443`"),
        ("rke2_pods: 10.64.0.0/14", "rke2_pods: [10.64.0.0/14]", "`pods`"),
        ("rke2_pods: 10.64.0.0/14", "rke2_pods:", "is no address"),
        ("rke2_pods: 10.64.0.0/14", "rke2_pods: 0123456789abcdef", "is no address"),
    ],
)
def test_variables_that_do_not(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in GOOD
    found = judged(tmp_path, GOOD.replace(old, new))
    assert found[0] == "FAIL"
    assert said in found[1]
    assert "0123456789abcdef" not in found[1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rke2_vip:", "rke2_api_vip:", "has no variable rke2_vip"),
        ("https://10.72.0.20", "https://{{ rke2_vip }}", "made of other variables"),
        ("rke2_pods: 10.64.0.0/14", "rke2_pods: {v4: 10.64.0.0/14}", "neither a text nor a list"),
        ("rke2_pods: 10.64.0.0/14", "rke2_vip: 10.64.0.0/14", "given twice"),
        ("# shared", "[", "not YAML"),
        (GOOD, "$ANSIBLE_VAULT;1.1;AES256\n6231\n", "not a table"),
        (GOOD, "- rke2_vip\n", "not a table"),
    ],
)
def test_variables_that_cannot_be_read(old: str, new: str, said: str, tmp_path: Path) -> None:
    found = judged(tmp_path, GOOD.replace(old, new))
    assert found[0] == "UNKNOWN"
    assert said in found[1]
    assert "6231" not in found[1]


def test_a_file_that_is_not_there_is_no_agreement(tmp_path: Path) -> None:
    assert judged(tmp_path, None)[0] == "UNKNOWN"


def test_a_known_difference_is_told_beside_what_is_not_known(tmp_path: Path) -> None:
    text = GOOD.replace("rke2_vip: 10.72.0.20", "rke2_vip: 10.72.0.9").replace("rke2_pods", "pods")
    assert judged(tmp_path, text)[0] == "FAIL"


def test_an_inventory_that_names_none_asks_nothing() -> None:
    cluster = wetopi()
    assert cluster.group_vars is None
    assert GroupVariablesOf.named.requests(cluster) == []  # type: ignore[union-attr]
    assert variables_agree(GroupVariablesOf(cluster, Here()).named(), cluster) == ()


@quick
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for each in (text, f"a: {text}", f"a: [{text}"):
        try:
            parse_variables(each)
        except Misread:
            continue


def test_a_deep_text_is_refused() -> None:
    with pytest.raises(Misread):
        parse_variables("a: " + "[" * 5000)


def test_what_was_not_compared_is_on_record() -> None:
    cluster = wetopi()
    nothing = compared(cluster)
    assert nothing["Ceph"] == "192.168.96.0/20"
    assert nothing["group variables"].startswith("not compared: ")
    named = GroupVars("all.yml", {"vip": "a", "pods": "b"})
    without = replace(cluster.network, ceph=None)
    some = compared(replace(cluster, network=without, group_vars=named))
    assert some["Ceph"] == f"not compared: {cluster.source.name} names no network.ceph"
    assert some["group variables"] == "pods, vip; not node_lan, services, tls_san, server_url"
    assert compared(replace(cluster, group_vars=GroupVars("all.yml", NAMES)))[
        "group variables"
    ] == ", ".join(sorted(NAMES))
