"""D2.dns, D2.dns-utils and D2.sched against what nslookup and the scheduler may answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selftests.trials.bodies import decide
from selftests.trials.cluster import RUN, Api, running

RUN_NAME = RUN.lower()
FQDN = "kubernetes.default.svc.cluster.local"
SERVER = "Server:\t\t10.68.0.10\nAddress:\t10.68.0.10#53\n\n"
GOOD = f"{SERVER}Name:\t{FQDN}\nAddress: 10.68.0.1\n"
NO_AAAA = f"** server can't find {FQDN}: NXDOMAIN\n"
SHORT = "Server:\t\t10.68.0.10\nAddress:\t10.68.0.10:53\n\n" + (
    "** server can't find kubernetes.default: NXDOMAIN\n\n" * 2
)


def speaking(stdout: str, rc: int = 0, stderr: str = "") -> Api:
    """A cluster in whose pods nslookup says this."""
    return Api(runs=lambda argv: (rc, stdout, stderr) if argv[-1] == FQDN else (1, SHORT, ""))


@pytest.mark.parametrize("gate", ["D2.dns", "D2.dns-utils"])
@pytest.mark.parametrize(
    ("stdout", "rc", "verdict"),
    [
        (GOOD, 0, "PASS"),
        (GOOD.replace("Address: ", "Address 1: "), 0, "PASS"),
        # The answer is good, another record type was not found.
        (GOOD + NO_AAAA, 1, "PASS"),
        (f"{GOOD}Name:\t{FQDN}\nAddress: 10.68.0.2\n", 0, "PASS"),
        (GOOD.replace(FQDN, FQDN.upper()), 0, "PASS"),
        # The resolver's own address is inside the services' network, and no answer.
        (SERVER, 0, "UNKNOWN"),
        (SERVER + NO_AAAA, 1, "FAIL"),
        (SERVER + NO_AAAA, 0, "FAIL"),
        (f"{SERVER}*** Can't find {FQDN}: No answer\n", 0, "FAIL"),
        (f"{SERVER}** server can't find {FQDN}: SERVFAIL\n", 1, "FAIL"),
        (";; connection timed out; no servers could be reached\n", 1, "FAIL"),
        (
            ";; communications error to 10.68.0.10#53: timed out\n;; no servers could be reached\n",
            1,
            "FAIL",
        ),
        (GOOD.replace("10.68.0.1\n", "10.69.0.1\n"), 0, "FAIL"),
        (GOOD.replace("10.68.0.1\n", "10.6.8.1\n"), 0, "FAIL"),
        (f"{GOOD}Name:\t{FQDN}\nAddress: 10.69.0.1\n", 0, "FAIL"),
        (f"{GOOD}Name:\t{FQDN}\nAddress: fd00::1\n", 0, "FAIL"),
        (GOOD.replace(f"Name:\t{FQDN}", f"Name:\t{FQDN}.example.net"), 0, "FAIL"),
        # Not a word of DNS.
        (GOOD, 139, "UNKNOWN"),
        ("", 0, "UNKNOWN"),
        ("nslookup: unrecognized option: x\nBusyBox v1.36.1 multi-call binary.\n", 1, "UNKNOWN"),
        ("", 127, "UNKNOWN"),
        (GOOD.replace("10.68.0.1\n", "10.68.0.1#53\n"), 0, "UNKNOWN"),
    ],
)
def test_only_answers_decide(gate: str, stdout: str, rc: int, verdict: str) -> None:
    found, said, _ = decide(speaking(stdout, rc), gate)
    assert found == verdict, said
    assert all(char.isprintable() for char in said)


def test_the_short_name_is_recorded_beside_the_answer_that_decides() -> None:
    verdict, _, facts = decide(speaking(GOOD + NO_AAAA, 1), "D2.dns-utils")
    assert verdict == "PASS"
    full, short = facts["lookups"]
    assert (full["rc"], full["answers"]) == (1, [f"{FQDN} 10.68.0.1"])
    assert full["errors"] == [NO_AAAA.strip()]
    assert (short["name"], short["rc"], short["answers"]) == ("kubernetes.default", 1, [])


@pytest.mark.parametrize("short", [(139, "", "Segmentation fault"), (1, "Address: x", "")])
@pytest.mark.parametrize(("full", "verdict"), [(GOOD, "PASS"), (SERVER + NO_AAAA, "FAIL")])
def test_what_the_short_name_comes_to_decides_nothing(
    short: tuple[int, str, str], full: str, verdict: str
) -> None:
    api = Api(runs=lambda argv: (1, full, "") if argv[-1] == FQDN else short)
    found, _, facts = decide(api, "D2.dns-utils")
    assert found == verdict
    assert "nslookup kubernetes.default" in facts["lookups"][1]["not known"]


@pytest.mark.parametrize("gate", ["D2.dns", "D2.dns-utils", "D2.netpol"])
def test_a_pod_that_does_not_run_cannot_be_asked(gate: str) -> None:
    def pending(pod: dict[str, Any]) -> dict[str, Any]:
        message = "0/6 nodes are available: 6 node(s) had untolerated taint(s)."
        why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        return pod | {"status": {"phase": "Pending", "conditions": [why | {"message": message}]}}

    verdict, said, _ = decide(Api(becomes=pending), gate)
    assert verdict == "UNKNOWN"
    assert "`Unschedulable`: `0/6 nodes are available" in said


def on(places: dict[str, str], **status: Any) -> Api:
    """A cluster that binds the pods whose names begin so to these nodes."""

    def becomes(pod: dict[str, Any]) -> dict[str, Any]:
        name = pod["metadata"]["name"]
        node = next((node for start, node in places.items() if name.startswith(start)), "")
        item = running(pod | {"spec": pod["spec"] | {"nodeName": node}})
        item["status"] |= status
        return item

    return Api(becomes=becomes)


LABELLED, UNLABELLED = "rke2-sched-check", "rke2-sched-any"


@pytest.mark.parametrize(
    ("labelled", "unlabelled", "verdict", "told"),
    [
        ("rke-platform01", "rke-platform03", "PASS", ""),
        ("rke-platform02", "rke-platform02", "PASS", ""),
        ("rke-platform01", "rke-cp02", "FAIL", "`rke-cp02`, which is no platform worker"),
        ("rke-cp01", "rke-platform01", "FAIL", "`rke-cp01`, which is no platform worker"),
        ("rke-platform01", "rke-platform04", "FAIL", "`rke-platform04`, which is no platform"),
        ("rke-platform01", "", "FAIL", "landed on no node: no scheduler has said anything"),
    ],
)
def test_both_pods_must_land_on_platform_workers(
    labelled: str, unlabelled: str, verdict: str, told: str
) -> None:
    api = on({LABELLED: labelled, UNLABELLED: unlabelled})
    found, said, facts = decide(api, "D2.sched")
    assert (found, told in said) == (verdict, True), said
    assert facts["placement"][f"{LABELLED}-{RUN_NAME}"].startswith(labelled)
    specs = {
        body["metadata"]["name"].removesuffix(f"-{RUN_NAME}"): body["spec"]
        for each in api.sent
        if (body := json.loads(getattr(each, "body", None) or "{}")).get("kind") == "Pod"
    }
    assert specs[LABELLED]["nodeSelector"] == {"wetopi.io/role": "platform"}
    assert "nodeSelector" not in specs[UNLABELLED]
    assert not any("tolerations" in spec for spec in specs.values())


def test_a_pod_that_its_kubelet_refuses_has_not_landed() -> None:
    both = {LABELLED: "rke-platform01", UNLABELLED: "rke-platform02"}
    refused = on(both, phase="Failed", reason="NodeAffinity", message="no match")
    verdict, said, _ = decide(refused, "D2.sched")
    assert verdict == "FAIL"
    assert "was not taken by rke-platform01, where it is bound" in said
    assert "`NodeAffinity`" in said


def test_a_pod_whose_image_cannot_be_had_has_landed_nevertheless() -> None:
    both = {LABELLED: "rke-platform01", UNLABELLED: "rke-platform02"}
    waiting = {"waiting": {"reason": "ImagePullBackOff"}}
    state = [{"name": "trial", "ready": False, "state": waiting}]
    verdict, said, facts = decide(on(both, phase="Pending", containerStatuses=state), "D2.sched")
    assert verdict == "PASS", said
    assert set(facts["placement"].values()) == {
        "rke-platform01, Pending",
        "rke-platform02, Pending",
    }
