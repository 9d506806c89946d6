"""What `hubble` prints is read as it was measured; anything else is `Misread`, never a guess."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.hubble import Flows, Peer, Status, parse_flows, parse_status

# cilium/cilium, hubble/pkg/printer/printer_test.go.
WITH_NODES = (
    '{"num_flows":"2771","max_flows":"8190","seen_flows":"2771","uptime_ns":"301515181665",'
    '"num_connected_nodes":2,"num_unavailable_nodes":0,"version":"hubble-relay v1.15.0+g4145278",'
    '"flows_rate":23.456}'
)
WITHOUT_NODES = (
    '{"num_flows":"2031","max_flows":"4095","seen_flows":"2348885","uptime_ns":"301515181665",'
    '"version":"cilium v1.10.3+g4145278"}'
)
# A flow as hubble v0.13 prints one that a policy denied, shortened in nothing but its labels.
DENIED = (
    '{"flow":{"time":"2026-09-20T14:56:45.779111730Z","uuid":"2848b6b6-59c0-4be2-8bdc-3a5861de4c68"'
    ',"verdict":"DROPPED","drop_reason":133,"IP":{"source":"10.64.1.116","destination":"10.64.1.117"'
    ',"ipVersion":"IPv4"},"l4":{"TCP":{"source_port":38160,"destination_port":80,"flags":{"SYN":'
    'true}}},"source":{"ID":4070,"identity":60176,"namespace":"n","labels":["k8s:run=probe"],'
    '"pod_name":"probe"},"destination":{"ID":2376,"identity":10337,"namespace":"n","labels":'
    '["k8s:run=web"],"pod_name":"web"},"Type":"L3_L4","node_name":"default/rke-platform01",'
    '"traffic_direction":"INGRESS","drop_reason_desc":"POLICY_DENIED","Summary":"TCP Flags: SYN"},'
    '"node_name":"default/rke-platform01","time":"2026-09-20T14:56:45.779111730Z"}'
)
LOST = '{"lost_events":{"source":"HUBBLE_RING_BUFFER","num_events_lost":"12"},"node_name":"a"}'
GONE = '{"node_status":{"state_change":"NODE_UNAVAILABLE","node_names":["default/b","c"]}}'
BACK = '{"node_status":{"state_change":"NODE_CONNECTED","node_names":["d"]}}'
BROKEN = [
    "",
    "null",
    "[]",
    "{}",
    "Healthcheck (via localhost:4245): Ok",
    '{"num_flows":"many"}',
    '{"num_flows":"1.5"}',
    '{"num_flows":-1}',
    '{"num_flows":true}',
    '{"num_flows":"1","num_connected_nodes":{"value":6}}',
    '{"num_flows":"1","unavailable_nodes":"rke-cp02"}',
    '{"num_flows":"1","unavailable_nodes":[1]}',
    WITH_NODES[:-2],
    "\x1b[32m" + WITH_NODES,
]


def test_the_relays_status_is_read() -> None:
    assert parse_status(WITH_NODES) == Status(
        True, 2771, 8190, 2771, 2, 0, (), "hubble-relay v1.15.0+g4145278", 301.515181665
    )


def test_a_server_that_knows_of_no_nodes_does_not_say_how_many() -> None:
    assert parse_status(WITHOUT_NODES).connected is None


def test_zeros_are_left_out() -> None:
    status = parse_status('{"max_flows":"24570","num_connected_nodes":6,"version":"r"}\r\n')
    assert (status.flows, status.seen, status.connected, status.unavailable) == (0, 0, 6, 0)


def test_named_nodes_count_even_without_their_number() -> None:
    status = parse_status('{"num_flows":"1","num_connected_nodes":5,"unavailable_nodes":["b"]}')
    assert (status.unavailable, status.names) == (1, ("b",))


@pytest.mark.parametrize("text", BROKEN)
def test_a_status_that_is_none_is_misread(text: str) -> None:
    with pytest.raises(Misread):
        parse_status(text)


def test_a_denied_flow_is_read() -> None:
    (flow,) = parse_flows(DENIED + "\r\n\n").flows
    assert flow.dropped
    assert flow.identified
    assert (flow.verdict, flow.drop_reason) == ("DROPPED", "POLICY_DENIED")
    assert flow.source == Peer(60176, "n", "probe", ("k8s:run=probe",))
    assert str(flow.destination) == "n/web"
    assert (flow.node, flow.time) == ("default/rke-platform01", "2026-09-20T14:56:45.779111730Z")


def test_what_is_no_flow_is_counted_apart() -> None:
    noise = "E1130 memcache.go:265] the server is currently unable\n"
    assert parse_flows(f"{LOST}\n{GONE}\n", f"{noise}{BACK}\n{GONE}\n") == Flows(
        (), 12, ("default/b", "c")
    )


def test_nothing_printed_is_no_flow() -> None:
    assert parse_flows("\n") == Flows()


def test_a_flow_without_parts_has_no_identity() -> None:
    (flow,) = parse_flows('{"flow":{"source":{"labels":["reserved:world"]}}}').flows
    assert not flow.identified
    assert (str(flow.source), str(flow.destination)) == ("reserved:world", "unnamed")


@pytest.mark.parametrize(
    "text",
    [
        "Sep  1 12:04:11.219: default/web:44210 (ID:24512) -> …",
        '{"verdict":"DROPPED"}',
        '{"flow":[]}',
        '{"flow":{"verdict":2}}',
        '{"flow":{"source":{"identity":"reserved:host"}}}',
        f"{DENIED}\n{DENIED[:200]}",
        f"{DENIED}{DENIED}",
    ],
)
def test_lines_that_are_none_are_misread(text: str) -> None:
    with pytest.raises(Misread):
        parse_flows(text)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
_PARTS = st.sampled_from(
    ["verdict", "source", "destination", "identity", "labels", "drop_reason", "time", "node_name"]
)


@given(st.dictionaries(_PARTS, _VALUES), st.text(max_size=20), st.integers(0, 800))
def test_any_answer_is_read_or_misread(part: dict[str, Any], noise: str, cut: int) -> None:
    lines = json.dumps({"flow": part | {"source": part}})
    for text in (lines, noise, lines + noise, (DENIED + "\r\n" + lines)[:cut]):
        with suppress(Misread):
            assert len(parse_flows(text, noise).flows) <= 2
        with suppress(Misread):
            parse_status(text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_names_come_through_as_they_are(pod: str, namespace: str) -> None:
    event = {"flow": {"destination": {"pod_name": pod, "namespace": namespace}}}
    (flow,) = parse_flows(json.dumps(event, ensure_ascii=False)).flows
    assert (flow.destination.pod, flow.destination.namespace) == (pod, namespace)
