"""Encryption at rest, part (i): every server for itself, and none left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.core.verdicts import Undecided
from fixtures.judge.encryption import protected, unchanged
from fixtures.observe.answers import Misread
from fixtures.observe.encryption import Encryption, Key, parse_status
from selftests.gates.drilling import drilled
from selftests.gates.texts import CPS, GET_NODES, items, node_object
from selftests.gates.world import Reply, World, wetopi
from selftests.observe import k3s

if TYPE_CHECKING:
    from fixtures.judge.findings import Findings
    from fixtures.observe.encryption import Encrypted

STATUS = "sudo -n /usr/local/bin/rke2 secrets-encrypt status -o json"
KEY = "rke2.io/encryption-config-hash"
HASH = f"start-{'3' * 64}"
TEXT = """Encryption Status: Enabled
Current Rotation Stage: start
Server Encryption Hashes: All hashes match

Active  Key Type  Name
------  --------  ----
 *      AES-CBC   aescbckey

"""


def status(**changes: Any) -> Reply:
    answer = {
        "stage": "start",
        "activekey": "AES-CBC aescbckey",
        "enable": True,
        "hashmatch": True,
    } | changes
    return Reply(json.dumps({key: value for key, value in answer.items() if value is not None}))


def annotated(**hashes: str | None) -> Reply:
    nodes = []
    for name in CPS:
        node = node_object(name)
        value = hashes.get(name.replace("-", "_"), HASH)
        node["metadata"]["annotations"] = {} if value is None else {KEY: value}
        nodes.append(node)
    return Reply(items(nodes))


def world(nodes: Reply | None = None, **changed: Reply) -> World:
    world = drilled()
    for name in CPS:
        world.say(name, STATUS, changed.get(name.replace("-", "_"), status()))
    world.say("rke-cp01", GET_NODES, nodes or annotated())
    return world


def seen(world: World) -> Encrypted:
    return Encryption(world.cluster, world).everywhere()


def judged(nodes: Reply | None = None, **changed: Reply) -> Findings:
    return protected(seen(world(nodes, **changed)), wetopi())


def test_every_control_plane_encrypts() -> None:
    assert judged() == ()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(TEXT),
        Reply(TEXT.replace("start", "reencrypt_finished")),
        status(stage="reencrypt_finished", activekey="AES-CBC aescbckey-2026-11-30T13:28:03Z"),
        status(activekey="aescbckey"),
        status(activekey="aescbckey-2026-11-30T13:28:03Z"),
        status(inactivekeys=["AES-CBC old"]),
    ],
)
def test_what_is_protected(reply: Reply) -> None:
    assert judged(rke_cp02=reply) == ()


def test_an_answer_that_contradicts_itself_is_not_believed() -> None:
    with pytest.raises(Undecided, match="contradict"):
        judged(rke_cp02=status(hasherror="hash does not match between a and b"))


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (status(hashmatch=None), "hashes do not match"),
        (
            status(hashmatch=None, hasherror="hash does not match between a and b"),
            "hashes do not match: `hash does not match between a and b`",
        ),
        (status(enable=False, activekey=""), "is not enabled"),
        (status(enable=None), "is not enabled"),
        (Reply('{"stage":"","activekey":""}'), "is not enabled"),
        (Reply("Encryption Status: Disabled, no configuration file found\n"), "is not enabled"),
        (status(stage="rotate"), "rotation stage is `rotate`"),
        (status(stage="prepare"), "rotation stage is `prepare`"),
        (status(stage="reencrypt_active"), "rotation stage is `reencrypt_active`"),
        (status(activekey=""), "no key is active"),
        (status(activekey="XSalsa20-POLY1305 secretboxkey"), "expected an AES-CBC key"),
        (status(activekey="secretboxkey"), "expected an AES-CBC key"),
        (Reply(TEXT.replace("All hashes match", "hash does not match between a and b")), "hashes"),
        (Reply(TEXT.replace("Enabled", "Disabled").replace(" *  ", "    ")), "is not enabled"),
    ],
)
def test_what_is_not(reply: Reply, says: str) -> None:
    found = judged(rke_cp02=reply)
    assert any(says in finding for finding in found), found
    assert all(finding.startswith("rke-cp02: ") for finding in found)


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        (annotated(rke_cp03=None), "rke-cp03 has no annotation"),
        (annotated(rke_cp03=""), "rke-cp03 has no annotation"),
        (annotated(rke_cp02="start-4"), "different encryption configurations"),
        (Reply(items([node_object("rke-cp01")])), "rke-cp02 has no annotation"),
    ],
)
def test_a_server_that_the_others_leave_out(nodes: Reply, says: str) -> None:
    assert any(says in finding for finding in judged(nodes))


ERRORS = [
    "Error: see server log for details: Internal error occurred: secret-encrypt error ID 82108",
    "Error: see server log for details: https://127.0.0.1:9345/x: 500 Internal Server Error",
    'Error: failed to get CA certs: Get "https://127.0.0.1:9345/cacerts": connection refused',
    "Error: see server log for details: not authorized",
    "Error: open /var/lib/rancher/rke2/server/token: permission denied",
]


@pytest.mark.parametrize("error", ERRORS)
def test_a_server_that_starts_has_no_answer_yet(error: str) -> None:
    with pytest.raises(Undecided, match="rke-cp02"):
        judged(rke_cp02=Reply(stderr=f'level=fatal msg="{error}"\n'.replace('"h', "h"), rc=1))


@pytest.mark.parametrize(
    "reply", [Reply("{}"), Reply("Enabled"), Reply(""), Reply(silent="rke-cp02")]
)
def test_what_is_no_status_is_undecided(reply: Reply) -> None:
    with pytest.raises(Undecided, match="rke-cp02"):
        judged(rke_cp02=reply)


def test_an_api_that_does_not_answer_is_undecided() -> None:
    with pytest.raises(Undecided, match="rke-cp01"):
        judged(Reply(stderr="The connection was refused\n", rc=1))


def test_a_finding_stands_beside_a_server_that_is_silent() -> None:
    assert judged(rke_cp01=Reply(silent="x"), rke_cp02=status(enable=False))


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ({}, ""),
        ({"rke_cp01": status(stage="reencrypt_finished")}, "it was `start, AES-CBC aescbckey`"),
        ({"rke_cp01": status(activekey="AES-CBC aescbckey-2026-11-30T13:28:03Z")}, "rke-cp01"),
        ({"nodes": annotated(rke_cp01="start-9")}, "changed since the snapshot"),
    ],
)
def test_a_rotation_since_the_snapshot(now: dict[str, Reply], says: str) -> None:
    found = unchanged(seen(world()), seen(world(**now)), wetopi())
    assert bool(found) is bool(says)
    assert says in "".join(found)


def test_a_rotation_of_which_nobody_knows() -> None:
    with pytest.raises(Undecided, match="gone"):
        unchanged(seen(world()), seen(world(rke_cp01=Reply(silent="gone"))), wetopi())


def test_the_captured_texts_and_json_say_the_same() -> None:
    runs = [
        run for _, run in k3s.runs("encrypt", r"^secrets-encrypt status( -o json)?$") if not run.rc
    ]
    parsed = [parse_status(run.stdout) for run in runs]
    assert len(parsed) > 20
    assert {each.stage for each in parsed} == {"start", "prepare", "rotate", "reencrypt_finished"}
    assert parsed[0] == parsed[1]
    assert all(each.hashes_match is not bool(each.hash_error) for each in parsed)


def test_a_key_s_name_may_have_colons() -> None:
    name = "aescbckey-2026-11-30T13:28:03Z"
    parsed = parse_status(TEXT.replace("aescbckey", name))
    assert parsed.active == Key("AES-CBC", name)


@given(
    st.text(max_size=120) | st.builds(lambda a, b: TEXT[:a] + TEXT[b:], *[st.integers(0, 200)] * 2)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_status(text)
    except Misread:
        return


@pytest.mark.parametrize("keys", ["what\n", " * AES-CBC a\n * AES-CBC b\n", " * AES-CBC\n"])
def test_rows_that_are_no_keys_are_refused(keys: str) -> None:
    with pytest.raises(Misread):
        parse_status(TEXT.replace(" *      AES-CBC   aescbckey\n", keys))
