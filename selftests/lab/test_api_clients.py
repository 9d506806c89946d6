"""The lab's API as the suite's own client meets it, faults included."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING

import pytest

from fixtures.core.inventory_file import load
from fixtures.core.requests import Executed, KubeChange, KubeExec, KubeGet, Response, Silence
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.bastion import BastionLink
from fixtures.remote.kube import pages
from lab.faults import FAULTS
from lab.phase import Phase
from lab.replies import Reply
from lab.server import Lab, Settings
from selftests.remote.loop import BACKGROUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixtures.core.requests import Answer, KubeRequest

ETCD = ("kube-system", "etcd-rke-cp01", "etcd")


class Met:
    """A lab at phase D2 and an asker; `broken` is put right after each test."""

    def __init__(self, lab: Lab, asker: RemoteAsker) -> None:
        self.lab = lab
        self.asker = asker

    def fault(self, name: str, parameters: object = None) -> None:
        """Let something go wrong."""
        BACKGROUND.call(FAULTS[name].apply, self.lab.world, parameters)

    def ask(self, request: KubeRequest) -> Answer:
        """Ask anew."""
        return self.asker.refresh([request])[request]

    def get(self, path: str, limit: float = 5) -> Answer:
        """One GET."""
        return self.ask(KubeGet(path, limit))

    def execute(self, *argv: str, limit: float = 5) -> Answer:
        """One program in an etcd container."""
        return self.ask(KubeExec(*ETCD, argv, limit))

    def logged(self) -> list[dict[str, object]]:
        """What the lab wrote down."""
        text = (self.lab.folder / "commands.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Met]:
    async def start() -> tuple[Lab, RemoteAsker]:
        lab = Lab(Settings(tmp_path_factory.mktemp("reports"), phase=Phase.D2))
        cluster = load(await lab.start())
        return lab, RemoteAsker(cluster, BastionLink(cluster))

    lab, asker = BACKGROUND.run(start())
    yield Met(lab, asker)
    asker.close()
    BACKGROUND.run(lab.stop())


@pytest.fixture
def met(lab: Met) -> Iterator[Met]:
    yield lab
    lab.lab.world.api_rules.clear()
    lab.lab.world.replies.clear()
    lab.asker.forget()


def test_the_whole_cluster_through_the_vip(met: Met) -> None:
    answer = met.get("/api/v1/nodes")
    assert isinstance(answer, Response)
    assert len(json.loads(answer.body)["items"]) == 6


def test_a_program_as_kubectl_exec_runs_it(met: Met) -> None:
    answer = met.execute("etcdctl", "version-of-nothing")
    assert isinstance(answer, Executed)
    assert (answer.rc, answer.stdout) == (1, b"")
    assert answer.stderr.startswith(b'Error: unknown command "version-of-nothing"')
    last = met.logged()[-1]
    assert last["command"] == "exec kube-system/etcd-rke-cp01 -c etcd -- etcdctl version-of-nothing"


@pytest.mark.parametrize(
    ("pod", "container", "status", "said"),
    [
        ("etcd-rke-cp01", "etcd", 500, 'exec: \\"env\\": executable file not found in $PATH'),
        ("etcd-rke-cp09", "etcd", 404, 'pods \\"etcd-rke-cp09\\" not found'),
        ("etcd-rke-cp01", "none", 400, "container none is not valid for pod etcd-rke-cp01"),
    ],
)
def test_a_program_that_cannot_start(
    met: Met, pod: str, container: str, status: int, said: str
) -> None:
    answer = met.ask(KubeExec("kube-system", pod, container, ("env",), 5))
    assert isinstance(answer, Response)
    assert answer.status == status
    assert said in answer.body.decode()


def test_streams_codes_and_losses_of_programs(met: Met) -> None:
    replies = met.lab.world.replies
    replies.append(Reply(re.compile("three"), pod="*", stdout=b"o\xff", stderr=b"e" * (4 << 20)))
    replies[-1].rc = 3
    answer = met.execute("three", limit=20)
    assert isinstance(answer, Executed)
    assert (answer.rc, answer.stdout, len(answer.stderr)) == (3, b"o\xff", 4 << 20)
    met.fault("exec-loses-status", "three")
    answer = met.execute("three", limit=20)
    assert isinstance(answer, Silence)
    assert "how the program ended was not reported" in answer.reason


@pytest.mark.parametrize(
    ("fault", "parameters", "status"),
    [
        ("api-forbids", "/leases", 403),
        ("api-answers", {"request": "/leases", "status": 503}, 503),
        ("api-answers", {"request": "/leases", "status": 302}, 302),
    ],
)
def test_faults_that_answer(met: Met, fault: str, parameters: object, status: int) -> None:
    met.fault(fault, parameters)
    answer = met.get("/apis/coordination.k8s.io/v1/leases")
    assert isinstance(answer, Response)
    assert answer.status == status
    if status == 403:
        assert json.loads(answer.body)["message"] == (
            'leases.coordination.k8s.io is forbidden: User "system:admin" cannot list resource '
            '"leases" in API group "coordination.k8s.io" at the cluster scope'
        )


@pytest.mark.parametrize(
    ("fault", "parameters"),
    [
        ("api-stuck", "/leases"),
        ("api-slow", {"seconds": 60.0}),
        ("api-drips", {"request": "/leases", "seconds": 0.05}),
    ],
)
def test_faults_that_do_not_answer_in_time(met: Met, fault: str, parameters: object) -> None:
    met.fault(fault, parameters)
    answer = met.get("/apis/coordination.k8s.io/v1/leases", limit=0.4)
    assert isinstance(answer, Silence)
    assert "within 0.4 s" in answer.reason


def test_a_slow_api_is_none_that_is_silent(met: Met) -> None:
    met.fault("api-slow", {"seconds": 0.3})
    answer = met.get("/api/v1/nodes")
    assert isinstance(answer, Response)
    assert answer.seconds >= 0.3


def test_an_answer_that_is_cut(met: Met) -> None:
    met.fault("api-cuts", {"request": "/leases", "times": 1})
    assert not isinstance(met.get("/apis/coordination.k8s.io/v1/leases"), Response)
    assert isinstance(met.get("/apis/coordination.k8s.io/v1/leases"), Response)


def test_a_list_in_pages_and_one_that_changes(met: Met, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = met.get("/api/v1/pods")
    monkeypatch.setattr(pages, "PAGE", 7)
    paged = met.get("/api/v1/pods")
    assert isinstance(whole, Response)
    assert isinstance(paged, Response)
    assert json.loads(whole.body)["items"] == json.loads(paged.body)["items"]
    met.fault("list-changes-midway")
    answer = met.get("/api/v1/pods")
    assert isinstance(answer, Silence)
    assert "the list changed while it was read" in answer.reason


def test_writes_reach_the_world(met: Met) -> None:
    body = json.dumps({"metadata": {"name": "from-the-suite"}})
    path = "/api/v1/namespaces/default/configmaps"
    made = met.ask(KubeChange("POST", path, 5, body))
    assert isinstance(made, Response)
    assert made.status == 201
    assert met.lab.world.objects.get("ConfigMap", "default", "from-the-suite")
    gone = met.ask(KubeChange("DELETE", f"{path}/from-the-suite", 5))
    assert isinstance(gone, Response)
    assert gone.status == 200
    assert met.lab.world.objects.get("ConfigMap", "default", "from-the-suite") is None


def test_what_nobody_waits_for_any_more_is_given_up(met: Met) -> None:
    met.lab.world.replies.append(Reply(re.compile("hang"), pod="*", after=float("inf")))
    assert isinstance(met.execute("hang", limit=0.3), Silence)

    async def settled() -> None:
        while not any("hang" in str(line["command"]) for line in met.logged()):
            await asyncio.sleep(0.02)

    BACKGROUND.run(asyncio.wait_for(settled(), 5))


@pytest.mark.parametrize(
    ("fault", "parameters", "said"),
    [
        ("ops-kubeconfig-mode", "640", "has mode 640, it must be 600"),
        ("ops-kubeconfig-server", None, "leads to https://127.0.0.1:6443, it must lead to the VIP"),
        ("ops-kubeconfig-expired", None, "~/secrets/rke2-admin-kubeconfig expired"),
        ("ops-kubeconfig-foreign", None, "does not prove that it is this cluster's API"),
        ("ops-kubeconfig-missing", None, "No such file or directory"),
    ],
)
def test_a_kubeconfig_that_is_not_as_the_runbook_has_it(
    met: Met, fault: str, parameters: object, said: str
) -> None:
    BACKGROUND.call(met.lab.renew)
    met.fault(fault, parameters)
    asker = RemoteAsker(met.asker.cluster, met.asker.bastion)
    request = KubeGet("/api/v1/nodes", 5)
    answer = asker.ask([request])[request]
    BACKGROUND.call(met.lab.renew)
    assert not isinstance(answer, Response)
    assert said in answer.reason  # type: ignore[union-attr]
