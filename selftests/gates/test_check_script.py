"""B.7: the check script is safe, probes what the design says, and works now."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import (
    CAT_CHECK,
    CHECK,
    CURL,
    GETENT,
    RUN_CHECK,
    SCRIPT,
    STAT_CHECK,
)
from selftests.gates.world import Reply, configured, healthy

CP = "rke-cp02"
NO_FILE = "No such file or directory\n"
VARIABLES = """\
#!/bin/sh
TLS="/var/lib/rancher/rke2/server/tls"
HOST=127.0.0.1
readonly PORT=9345
URL="https://${HOST}:6443/readyz"
curl -sf --cacert "$TLS/server-ca.crt" --cert "$TLS/a.crt" --key "$TLS/a.key" "$URL" || exit 1
nc -z "$HOST" "$PORT"
"""
DOUBLING = "A0=xxxxxxxxxx\n" + "".join(f"A{n + 1}=$A{n}$A{n}\n" for n in range(60))


@pytest.mark.parametrize(
    ("command", "reply", "verdict", "says"),
    [
        (STAT_CHECK, Reply("644 root root regular file\n"), "FAIL", "root:root 0644"),
        (STAT_CHECK, Reply("777 root root regular file\n"), "FAIL", "root:root 0777"),
        (STAT_CHECK, Reply("775 root adm regular file\n"), "FAIL", "root:adm 0775"),
        (STAT_CHECK, Reply("775 root root regular file\n"), "PASS", ""),
        (STAT_CHECK, Reply("755 ubuntu root regular file\n"), "FAIL", "ubuntu:root"),
        (STAT_CHECK, Reply("755 root root regular empty file\n"), "FAIL", "empty"),
        (STAT_CHECK, Reply("755 root root directory\n"), "FAIL", "directory"),
        (STAT_CHECK, Reply(stderr=f"stat: cannot statx '{CHECK}': {NO_FILE}", rc=1), "FAIL", "not"),
        (STAT_CHECK, Reply("rwx\n"), "UNKNOWN", ""),
        (STAT_CHECK, Reply(stderr="sudo: stat: command not found\n", rc=1), "UNKNOWN", ""),
        (RUN_CHECK, Reply(rc=1), "FAIL", "gives rc 1"),
        (RUN_CHECK, Reply(stderr="curl: command not found\n", rc=127), "FAIL", "gives rc 127"),
        (RUN_CHECK, Reply(stderr="sudo: a password is required\n", rc=1), "UNKNOWN", ""),
        (RUN_CHECK, Reply(silent="rke-cp02: no answer within 15 s"), "UNKNOWN", ""),
        (CAT_CHECK, Reply("#!/bin/sh\nexit 0\n"), "FAIL", "does not probe"),
        (CAT_CHECK, Reply(SCRIPT.replace("127.0.0.1:6443", "10.72.0.20:6443")), "FAIL", "/readyz"),
        (CAT_CHECK, Reply(SCRIPT.replace("/readyz", "/livez")), "FAIL", "/readyz"),
        (CAT_CHECK, Reply(SCRIPT.replace("/9345", "/9346")), "FAIL", "TCP 9345"),
        (CAT_CHECK, Reply(SCRIPT.replace("timeout 2", "# timeout 2")), "FAIL", "TCP 9345"),
        (CAT_CHECK, Reply(SCRIPT.replace("--key", "-x")), "FAIL", "without --key"),
        (CAT_CHECK, Reply(SCRIPT.replace("curl -sf", "curl -skf")), "FAIL", "without verifying"),
        (CAT_CHECK, Reply(SCRIPT.replace("curl -sf", "curl --insecure")), "FAIL", "verifying"),
        (CAT_CHECK, Reply(SCRIPT.replace("127.0.0.1", "localhost")), "PASS", ""),
        (CAT_CHECK, Reply(SCRIPT.replace("</dev/tcp/127.0.0.1/9345", "nc -z 127.0.0.1 9345")),
         "PASS", ""),
        (CAT_CHECK, Reply(SCRIPT.replace("curl -sf", "timeout -k 1 4 curl -sf")), "PASS", ""),
        (CAT_CHECK, Reply(VARIABLES), "PASS", ""),
        (CAT_CHECK, Reply(VARIABLES.replace("PORT=9345", "PORT=9346")), "FAIL", "TCP 9345"),
        (CAT_CHECK, Reply(VARIABLES.replace("PORT=9345", "PORT=$1")), "UNKNOWN", "TCP 9345"),
        (CAT_CHECK, Reply(VARIABLES.replace("PORT=9345", "PORT=$(x)")), "UNKNOWN", "TCP 9345"),
        (CAT_CHECK, Reply(SCRIPT + "#" * 70_000), "UNKNOWN", "too long"),
        (CAT_CHECK, Reply(DOUBLING), "UNKNOWN", "does not probe"),
        (CAT_CHECK, Reply(silent="rke-cp02: no answer within 15 s"), "UNKNOWN", ""),
        (CURL, Reply("\n000", rc=7), "FAIL", "gives rc 0 though the local /readyz is not ok"),
    ],
)  # fmt: skip
def test_the_check_script(command: str, reply: Reply, verdict: str, says: str) -> None:
    world = healthy()
    world.say(CP, command, reply)
    decided = decide(world, "B.7")
    assert decided.verdict == verdict, decided.text
    assert says in decided.text


def test_a_check_that_says_no_on_a_control_plane_that_is_not_ready_is_undecided() -> None:
    world = healthy()
    world.say(CP, CURL, Reply("\n000", rc=7))
    world.say(CP, RUN_CHECK, Reply(rc=1))
    decided = decide(world, "B.7")
    assert decided.verdict == "UNKNOWN"
    assert "the local API is not ready" in decided.text


@pytest.mark.parametrize("mode", ["777 root root", "755 ubuntu root", "644 root root"])
def test_a_script_that_others_can_change_is_never_run(mode: str) -> None:
    world = healthy()
    world.say(CP, STAT_CHECK, Reply(f"{mode} regular file\n"))
    assert decide(world, "B.7").verdict == "FAIL"
    assert RUN_CHECK not in world.commands(CP)


def test_only_the_designed_script_is_ever_run() -> None:
    world = configured(CP, '"/etc/keepalived/check_rke2_api.sh"', '"/bin/rm -rf /"')
    assert decide(world, "B.7").verdict == "FAIL"
    assert not any("/bin/rm" in command for command in world.commands(CP))


@pytest.mark.parametrize(
    ("users", "getent", "run", "verdict"),
    [
        ("    script_user root\n", Reply(rc=2), RUN_CHECK, "PASS"),
        ("", Reply(rc=2), RUN_CHECK, "PASS"),
        ("", Reply("keepalived_script:x:997:997::/:/usr/sbin/nologin\n"),
         f"sudo -n -u keepalived_script {CHECK}", "PASS"),
        ("    script_user probe probe\n", Reply(rc=2), f"sudo -n -u probe {CHECK}", "PASS"),
        ("", Reply(stderr="getent: command not found\n", rc=127), "", "UNKNOWN"),
        ("", Reply("root:x:0:0\n"), "", "UNKNOWN"),
    ],
)  # fmt: skip
def test_the_script_runs_as_keepalived_would_run_it(
    users: str, getent: Reply, run: str, verdict: str
) -> None:
    world = configured(CP, "    script_user root\n", users)
    world.say(CP, GETENT, getent)
    if run:
        world.say(CP, run, Reply())
    decided = decide(world, "B.7")
    assert decided.verdict == verdict, decided.text
    read = {CAT_CHECK, STAT_CHECK}
    ran = [each for each in world.commands(CP) if each.endswith(CHECK) and each not in read]
    assert ran == ([run] if run else [])


def test_a_user_that_cannot_read_the_key_fails() -> None:
    world = configured(CP, "script_user root", "script_user probe")
    refused = Reply(stderr="curl: (58) could not load PEM client certificate\n", rc=58)
    world.say(CP, f"sudo -n -u probe {CHECK}", refused)
    decided = decide(world, "B.7")
    assert decided.verdict == "FAIL"
    assert "run as probe gives rc 58" in decided.text


def test_the_blocks_own_user_wins() -> None:
    world = configured(CP, "    interval 2\n", "    interval 2\n    user probe\n")
    world.say(CP, f"sudo -n -u probe {CHECK}", Reply(rc=1))
    assert decide(world, "B.7").verdict == "FAIL"
