"""Whatever stands in a plan or in a ruleset, its judgement is a verdict."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.judge.forwarding import accepts_both_ways
from fixtures.judge.nat import nat_only_to_the_wan
from fixtures.judge.plan_changes import told
from fixtures.judge.tofu import adds_one_nic
from fixtures.observe.answers import Misread
from fixtures.observe.routes import Paths, parse_routes
from fixtures.observe.ruleset import parse_ruleset
from lab import plan
from lab.ceph_lan import CephLan
from lab.tools.nft import tables
from selftests.gates.deciding import verdict_of
from selftests.gates.test_forwarding import (
    BACK,
    BY_MAP,
    CONC,
    DISPATCH,
    GENERAL,
    IN_JUMP,
    INTERFACES,
    JUMP,
    OUT,
    TOGETHER,
    VMAP,
    match,
    ruleset_text,
    target,
)
from selftests.gates.test_nat import WAN, dispatch, inward
from selftests.gates.test_tofu import CLUSTER, read
from selftests.lab.world import world_at
from selftests.observe.damage import VALUES, places, replaced

if TYPE_CHECKING:
    from fixtures.observe.ruleset import Ruleset

PLAN = plan.document(world_at("f"))
RULES = json.loads(
    ruleset_text(
        GENERAL,
        BY_MAP,
        [VMAP],
        [match(TOGETHER, "@conc"), {"accept": None}],
        [{"xt": None}],
        OUT,
        BACK,
        [WAN, {"masquerade": None}],
        more=[JUMP, IN_JUMP, DISPATCH, CONC],
    )
)
RULES["nftables"] += [*tables(CephLan(leg=True)), *dispatch(["eth1", {"jump": {"target": "x"}}])]
RULES["nftables"] += inward({"vmap": {"key": TOGETHER, "data": "@disp"}}, target("SAME"))
TABLE = parse_routes('[{"dst":"default","gateway":"203.0.113.1","dev":"eth1","flags":[]}]')


def elsewhere(data: st.DataObject, document: dict[str, Any]) -> str:
    place = data.draw(st.sampled_from(places(document)))
    return json.dumps(replaced(document, place, data.draw(VALUES)))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_plan(data: st.DataObject) -> None:
    with suppress(Misread):
        found = read(elsewhere(data, PLAN))
        assert verdict_of(lambda: adds_one_nic(found, CLUSTER, None))
        json.dumps(told(found, CLUSTER))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_ruleset(data: st.DataObject) -> None:
    with suppress(Misread):
        rules: Ruleset = parse_ruleset(elsewhere(data, RULES))
        assert verdict_of(lambda: accepts_both_ways(rules, INTERFACES, CLUSTER))
        paths = Paths("wetopi-natgw01", TABLE, {})
        assert verdict_of(lambda: nat_only_to_the_wan(rules, paths, CLUSTER))
