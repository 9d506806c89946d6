"""D2.netpol against what wget and Hubble may say: only a proved drop passes."""

from __future__ import annotations

import json

import pytest

from selftests.trials.bodies import decide
from selftests.trials.cluster import RUN, Api

RUN_NAME = RUN.lower()
TIMED_OUT = (1, "", "wget: download timed out\n")
DROPPED = ("DROPPED", "POLICY_DENIED")


class Network:
    """What the probe and Hubble see.

    Attributes:
        before, after: what wget does without the policy and with it, one after the other.
        flows: verdict and reason of the flows to web that Hubble tells of.
        to: the pod they go to.
    """

    def __init__(
        self,
        after: list[tuple[int, str, str]],
        flows: list[tuple[str, str]],
        before: list[tuple[int, str, str]] | None = None,
        to: str = "web",
    ) -> None:
        self.after, self.flows, self.to = after, flows, to
        self.before = before or [(0, "<html>", "")]
        self.api = Api(runs=self._wget, says=self._observe)

    def _wget(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
        assert argv == ("wget", "-qO-", "--timeout=5", f"http://web-{RUN_NAME}")
        denied = any("networkpolicies" in path for path in self.api.objects)
        answers = self.after if denied else self.before
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def _observe(self, command: str) -> str:
        space = f"rke2-acceptance-netpol-{RUN_NAME}"
        assert f"--namespace {space}" in command
        return "".join(
            json.dumps(
                {
                    "flow": {
                        "verdict": verdict,
                        "drop_reason_desc": reason,
                        "source": {"namespace": space, "pod_name": f"probe-{RUN_NAME}"},
                        "destination": {"namespace": space, "pod_name": f"{self.to}-{RUN_NAME}"},
                    },
                    "node_name": "rke-platform01",
                }
            )
            + "\n"
            for verdict, reason in self.flows
        )


SEGFAULT = (139, "", "Segmentation fault\n")
NO_OPTION = (1, "", "wget: unrecognized option '--timeout=5'\n")
NO_NAME = (1, "", "wget: bad address 'web'\n")
REFUSED = (1, "", "wget: can't connect to remote host (10.68.3.4): Connection refused\n")
REACHED = (0, "<html>", "")


@pytest.mark.parametrize(
    ("network", "verdict", "told"),
    [
        (Network([TIMED_OUT], [("FORWARDED", ""), DROPPED]), "PASS", ""),
        # A policy takes a moment to take effect.
        (Network([REACHED, REACHED, TIMED_OUT], [DROPPED]), "PASS", ""),
        (Network([TIMED_OUT], [("DROPPED", "")]), "PASS", ""),
        # Endpoints come about a moment after their service.
        (Network([TIMED_OUT], [DROPPED], before=[REFUSED, TIMED_OUT, REACHED]), "PASS", ""),
        (Network([REACHED], [DROPPED]), "FAIL", "the probe still fetches"),
        (
            Network([(1, "", "wget: server returned error: HTTP/1.1 404 Not Found\n")], [DROPPED]),
            "FAIL",
            "the probe still fetches",
        ),
        (Network([SEGFAULT], [DROPPED]), "UNKNOWN", "rc 139, `Segmentation fault`"),
        (Network([NO_OPTION], [DROPPED]), "UNKNOWN", "unrecognized option"),
        (Network([NO_NAME], [DROPPED]), "UNKNOWN", "bad address"),
        (Network([REFUSED], [DROPPED]), "UNKNOWN", "Connection refused"),
        (Network([TIMED_OUT], []), "UNKNOWN", "seen to it: none at all"),
        (Network([TIMED_OUT], [("FORWARDED", "")]), "UNKNOWN", "seen to it: `FORWARDED`"),
        (Network([TIMED_OUT], [("DROPPED", "CT_MAP_INSERTION_FAILED")]), "UNKNOWN", "CT_MAP_INSER"),
        (Network([TIMED_OUT], [DROPPED], to="else"), "UNKNOWN", "seen to it: none at all"),
        (Network([TIMED_OUT], [DROPPED], before=[TIMED_OUT]), "UNKNOWN", "the control failed"),
        (Network([TIMED_OUT], [DROPPED], before=[SEGFAULT]), "UNKNOWN", "the control failed"),
        (Network([TIMED_OUT], [DROPPED], before=[NO_NAME]), "UNKNOWN", "the control failed"),
    ],
)
def test_only_a_dropped_probe_that_got_through_before_proves_it(
    network: Network, verdict: str, told: str
) -> None:
    found, said, facts = decide(network.api, "D2.netpol")
    assert (found, told in said) == (verdict, True), said
    assert ("dropped" in facts) == (verdict == "PASS")


def test_the_control_comes_before_the_policy() -> None:
    network = Network([TIMED_OUT], [DROPPED])
    decide(network.api, "D2.netpol")
    kinds = [
        kind
        for line in network.api.lines
        if (kind := next((k for k in ("exec", "networkpolicies") if k in line), ""))
    ]
    assert kinds == ["exec", "networkpolicies", "exec"]
    (policy,) = (
        json.loads(each.body or "")
        for each in network.api.sent
        if getattr(each, "path", "").endswith("networkpolicies")
    )
    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    assert policy["apiVersion"] == "networking.k8s.io/v1"
