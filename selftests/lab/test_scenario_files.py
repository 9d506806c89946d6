"""Scenario files: what they may say, and one clear error with file and line for each mistake."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from lab.phase import Phase
from lab.scenario import ScenarioError, load
from selftests.lab.world import KUBECTL, ask, etcdctl, world_at

EVERYTHING = """\
name: two nodes hold the VIP
expect: {B.3: FAIL, "C.3[rke-cp02]": FAIL}
phase: c
faults:
  - vip-held-by: [rke-cp01, rke-cp02]
  - vip-nowhere
replies:
  - host: rke-cp02
    command: 'etcdctl .*member list'
    stdout: |
      hello
    stderr: ''
    rc: 3
    times: 1
    after: 2s
  - pod: kube-system/etcd-*
    command: member list
    after: never
objects:
  - {kind: Node, name: rke-cp02, merge: {status: {conditions: [{type: Ready, status: "Unknown"}]}}}
  - {kind: Pod, namespace: kube-system, labels: {component: etcd}, on: rke-cp03, delete: true}
files:
  - {path: ansible/files/rke2/node-token, mode: "0644"}
"""


def scenario(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_the_format_has(tmp_path: Path) -> None:
    loaded = load(scenario(tmp_path, EVERYTHING))
    assert loaded.name == "two nodes hold the VIP"
    assert loaded.expect == {"B.3": "FAIL", "C.3[rke-cp02]": "FAIL"}
    assert loaded.phase is Phase.C
    assert loaded.fault_names == ("vip-held-by", "vip-nowhere")
    first, second = loaded.replies
    assert (first.stdout, first.rc, first.times, first.after) == (b"hello\n", 3, 1, 2.0)
    assert (second.pod, second.after) == ("kube-system/etcd-*", math.inf)
    assert loaded.files[0].mode == 0o644
    world = world_at("c")
    loaded.change(world)
    node = world.objects.get("Node", "", "rke-cp02")
    assert node is not None
    ready = {each["type"]: each["status"] for each in node["status"]["conditions"]}
    assert (ready["Ready"], ready["EtcdIsVoter"]) == ("Unknown", "True")
    assert world.objects.get("Pod", "kube-system", "etcd-rke-cp03") is None
    assert world.objects.get("Pod", "kube-system", "etcd-rke-cp02") is not None


def test_replies_come_before_the_model(tmp_path: Path) -> None:
    text = """\
name: x
replies:
  - {host: 'rke-cp0[12]', command: '^hostname$', stdout: "first\\n", times: 1}
  - {host: rke-cp01, command: '^hostname$', stderr: "second\\n", rc: 9}
  - {pod: 'kube-system/etcd-rke-cp01', command: 'member list', stdout: "[]\\n", rc: 2}
"""
    world = world_at("c")
    load(scenario(tmp_path, text)).change(world)
    assert ask(world, "rke-cp01", "hostname").out == "first\n"
    said = ask(world, "rke-cp01", "hostname")
    assert (said.rc, said.out, said.err, said.known) == (9, "", "second\n", True)
    assert ask(world, "rke-cp02", "hostname").out == "rke-cp02\n"
    in_pod = etcdctl(world, "rke-cp01", "member list")
    assert (in_pod.rc, in_pod.out) == (2, "[]\n")
    assert in_pod.err == "command terminated with exit code 2\n"
    assert etcdctl(world, "rke-cp02", "member list").rc == 0


def test_an_object_comes_to_be_by_its_merge(tmp_path: Path) -> None:
    text = """\
name: x
objects:
  - {kind: Namespace, name: extra, merge: {status: {phase: Active},
     metadata: {creationTimestamp: "2026-11-30T12:00:00Z"}}}
"""
    world = world_at("c")
    load(scenario(tmp_path, text)).change(world)
    assert ask(world, "rke-cp01", f"{KUBECTL} get namespace extra -o name").out == (
        "namespace/extra\n"
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "the scenario is empty"),
        ("phase: c\n", 1, "`name` is missing"),
        ("name: x\nfalts: []\n", 2, "unknown key `falts`, did you mean `faults`?"),
        ("name: x\nname: y\n", 2, "`name` is there twice"),
        ("name: [x\n", 2, "not YAML"),
        ("name: 3\n", 1, "name: must be text, not `3`"),
        ("name: x\nphase: z\n", 2, "phase: no phase `z`"),
        ("name: x\nexpect: {B.3: GREEN}\n", 2, "`GREEN` is no verdict"),
        ("name: x\nexpect: {nonsense: PASS}\n", 2, "`nonsense` is not a gate"),
        ("name: x\nfaults:\n  - vip-nowere\n", 3, "faults[0]: no fault `vip-nowere`"),
        ("name: x\nfaults:\n  - {a: 1, b: 2}\n", 3, "one an entry"),
        ("name: x\nfaults: vip-nowhere\n", 2, "faults: must be a list, not text"),
        ("name: x\nreplies:\n  - {command: x}\n", 3, "either `host` or `pod`"),
        ("name: x\nreplies:\n  - {host: a, command: '('}\n", 3, "not a regular expression"),
        ("name: x\nreplies:\n  - host: a\n    command: x\n    rc: one\n", 5, "replies[0].rc"),
        ("name: x\nreplies:\n  - {host: a, command: x, after: soon}\n", 3, "is not a time"),
        ("name: x\nobjects:\n  - {kind: Frob, name: x, delete: true}\n", 3, "`kind` must be one"),
        ("name: x\nobjects:\n  - {kind: Pod, name: x}\n", 3, "either `merge` or `delete: true`"),
        ("name: x\nobjects:\n  - {kind: Pod, delete: true}\n", 3, "which object"),
        ("name: x\nfiles:\n  - {path: a, mode: 0999}\n", 3, "is not an octal mode"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = scenario(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert said in str(caught.value)


def test_a_wrong_parameter_is_found_with_its_line(tmp_path: Path) -> None:
    path = scenario(tmp_path, "name: x\nfaults:\n  - vip-nowhere\n  - ssh-silent: rke-cp07\n")
    with pytest.raises(ScenarioError) as caught:
        load(path).change(world_at("c"))
    assert str(caught.value).startswith(f"{path}:4: faults[1]: no host `rke-cp07`")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        load(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/dev/zero", "it is no regular file"),
        ("{}/pipe", "it is no regular file"),
        ("{}", "cannot be read: Is a directory"),
        ("{}/large.yaml", "it is larger than 1 MiB"),
        ("{}/deep.yaml", "not YAML: "),
        ("{}/latin-1.yaml", "it is not UTF-8"),
    ],
)
def test_what_is_no_scenario_is_refused_at_once(tmp_path: Path, path: str, said: str) -> None:
    """A device never ends, a pipe waits for whoever writes into it."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    (tmp_path / "deep.yaml").write_text("[" * 500_000)
    (tmp_path / "latin-1.yaml").write_bytes(b"name: gr\xfc\xdf\n")
    with pytest.raises(ScenarioError, match=said) as caught:
        load(Path(path.format(tmp_path)))
    assert str(caught.value).startswith(path.format(tmp_path))
