"""B.7 and B.8: keepalived and RKE2 configured as the runbook's facts say."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from selftests.gates.deciding import decide
from selftests.gates.world import (
    CAT_CHECK,
    CAT_CONF,
    CHECK,
    CONFIG,
    CPS,
    CURL,
    FIND_CONFIG,
    FIND_RKE2,
    GETENT,
    RUN_CHECK,
    SCRIPT,
    SED,
    SHOW_SERVER,
    STAT_CHECK,
    STAT_RKE2,
    Reply,
    World,
    conf,
    healthy,
    rke2_config,
)

if TYPE_CHECKING:
    from pathlib import Path

CP = "rke-cp02"
SECOND = "vrrp_instance VI_0 {\nvirtual_ipaddress {\n10.72.0.20\n}\n}\nvrrp_instance VI_1 {"
NO_FILE = "No such file or directory\n"


def configured(old: str, new: str, node: str = CP) -> World:
    world = healthy()
    assert old in conf(node)
    world.say(node, CAT_CONF, Reply(conf(node).replace(old, new, 1)))
    return world


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("virtual_router_id 51", "virtual_router_id 52", "virtual_router_id is 52"),
        ("interface eth0", "interface eth1", "interface is eth1, the design says eth0"),
        ("priority 100", "priority 145", "priority is 145, the design says 100"),
        ("    priority 100\n", "", "priority is not set"),
        ("advert_int 1", "advert_int 3", "advert_int is 3"),
        ("10.72.0.20/23", "10.72.0.20/32", "virtual_ipaddress is 10.72.0.20/32"),
        ("10.72.0.20/23", "10.72.0.20", "virtual_ipaddress is 10.72.0.20/32"),
        ("10.72.0.20/23", "10.72.0.200/23", "0 vrrp_instance blocks name the VIP"),
        ("10.72.0.20/23", "10.72.0.20/23\n10.72.0.30/23", "10.72.0.20/23, 10.72.0.30/23"),
        ("        10.72.0.21\n", "", "unicast_peer is 10.72.0.23"),
        ("10.72.0.21\n", "10.72.0.24\n", "unicast_peer is 10.72.0.23, 10.72.0.24"),
        ("unicast_src_ip 10.72.0.22", "unicast_src_ip 10.72.0.23", "unicast_src_ip is 10.72.0.23"),
        ("    unicast_src_ip 10.72.0.22\n", "", "unicast_src_ip is not set"),
        ("state BACKUP", "state BACKUP\nnopreempt", "nopreempt is set"),
        ("interval 2", "interval 5", "interval is 5"),
        ("fall 3", "fall 10", "fall is 10"),
        ("rise 2", "rise 1", "rise is 1"),
        ("    rise 2\n", "weight -5\n    rise 2\n", "weight is -5"),
        ("        check_rke2_api\n", "        check_rke2_api weight -5\n", "weight is -5"),
        ("        check_rke2_api\n", "", "tracks 0 scripts"),
        ("        check_rke2_api\n", "        other\n", "tracks 0 scripts"),
        ('"/etc/keepalived/check_rke2_api.sh"', "/bin/true", "tracks 0 scripts"),
        ("vrrp_instance VI_1 {", SECOND, "2 vrrp_instance blocks name the VIP"),
    ],
)
def test_a_configuration_that_differs_fails(old: str, new: str, says: str) -> None:
    decided = decide(configured(old, new), "B.7")
    assert decided.verdict == "FAIL"
    assert decided.text.startswith(f"{CP}: ")
    assert says in decided.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("state BACKUP", "state MASTER"),
        ("    rise 2\n", "rise 2 ! comment\nweight 0\n"),
        ("interval 2", "interval 2.0"),
        ("        check_rke2_api\n", "        check_rke2_api weight 0\n"),
        ("priority 100", "@rke-cp01 priority 150\n@rke-cp02 priority 100\n@^rke-cp02 priority 1"),
        ("priority 100", "# priority 7\n    priority 100"),
        ("10.72.0.20/23", "10.72.0.20/23 dev eth0 label eth0:vip"),
        ('"/etc/keepalived/check_rke2_api.sh"', "/etc/keepalived/check_rke2_api.sh"),
        ('"/etc/keepalived/check_rke2_api.sh"', "'/etc/keepalived/check_rke2_api.sh' # x"),
        ("vrrp_instance VI_1 {", "vrrp_instance OTHER {\n}\nvrrp_instance VI_1\n{"),
    ],
)
def test_a_configuration_that_means_the_same_passes(old: str, new: str) -> None:
    decided = decide(configured(old, new), "B.7")
    assert decided.verdict == "PASS", decided.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("priority 100", "priority 100\npriority 150"),
        ("priority 100", "priority high"),
        ("priority 100", "priority $PRIO"),
        ("priority 100", 'priority "100'),
        ("priority 100", "priority \\\n100"),
        ("priority 100", "priority"),
        ("advert_int 1", "advert_int nan"),
        ("vrrp_instance VI_1 {", "vrrp_instance VI_1 {\n{"),
        ("vrrp_instance VI_1 {", "}\nvrrp_instance VI_1 {"),
        ("vrrp_instance VI_1 {", "vrrp_instance VI_1 {\n{{"),
        ("vrrp_instance VI_1 {", "vrrp_instance {"),
        ("        10.72.0.21\n", "        rke-cp01.example\n"),
        ("global_defs {", "include /etc/keepalived/{a,b}.conf\nglobal_defs {"),
        ("global_defs {", "include /etc/*/a.conf\nglobal_defs {"),
        ("        check_rke2_api\n", "        check_rke2_api init_fail\n"),
    ],
)
def test_a_configuration_that_is_not_understood_is_unknown(old: str, new: str) -> None:
    decided = decide(configured(old, new), "B.7")
    assert decided.verdict == "UNKNOWN", decided.text
    assert decided.text.startswith(f"{CP}: ")


def test_a_known_difference_fails_though_another_cannot_be_read() -> None:
    world = configured("priority 100", "priority high")
    world.say("rke-cp03", CAT_CONF, Reply(conf("rke-cp03").replace("fall 3", "fall 4")))
    decided = decide(world, "B.7")
    assert decided.verdict == "FAIL"
    assert decided.text.startswith("rke-cp03: ")


def test_a_missing_configuration_fails() -> None:
    world = healthy()
    world.say(CP, CAT_CONF, Reply(stderr=f"cat: /etc/keepalived/keepalived.conf: {NO_FILE}", rc=1))
    decided = decide(world, "B.7")
    assert decided.verdict == "FAIL"
    assert f"{CP}: there is no keepalived.conf" in decided.text


@pytest.mark.parametrize(
    "reply",
    [
        Reply(stderr="cat: /etc/keepalived/keepalived.conf: Permission denied\n", rc=1),
        Reply(stderr="sudo: a password is required\n", rc=1),
        Reply(silent="rke-cp02: no answer within 15 s"),
        Reply(raw=b"\xff"),
        Reply(conf(CP), cut=3),
    ],
)
def test_a_configuration_that_cannot_be_read_is_unknown(reply: Reply) -> None:
    world = healthy()
    world.say(CP, CAT_CONF, reply)
    assert decide(world, "B.7").verdict == "UNKNOWN"


CONF_D = "sudo -n find /etc/keepalived/conf.d -maxdepth 1 -name '*.conf'"


def test_included_files_are_read_in_order_and_relative_to_their_includer() -> None:
    world = healthy()
    whole = conf(CP)
    head, tail = whole.split("vrrp_instance VI_1 {\n")
    script, rest = "vrrp_script" + head.split("vrrp_script")[1], head.split("vrrp_script")[0]
    world.say(CP, CAT_CONF, Reply(f"{rest}include conf.d/*.conf\n"))
    world.say(
        CP,
        CONF_D,
        Reply(
            "/etc/keepalived/conf.d/b.conf\n/etc/keepalived/conf.d/a.conf\n"
            "/etc/keepalived/conf.d/.hidden.conf\n"
        ),
    )
    world.say(CP, "sudo -n cat /etc/keepalived/conf.d/a.conf", Reply(script))
    world.say(
        CP,
        "sudo -n cat /etc/keepalived/conf.d/b.conf",
        Reply(f"vrrp_instance VI_1 {{\nincluder inner\n{tail}"),
    )
    inner = "sudo -n cat /etc/keepalived/conf.d/inner"
    world.say(CP, inner, Reply("# nothing\n"))
    assert decide(world, "B.7").verdict == "PASS"
    world.say(CP, inner, Reply("nopreempt\n"))
    assert decide(world, "B.7").verdict == "FAIL"


def test_an_include_that_matches_nothing_is_nothing() -> None:
    world = configured("global_defs {", "include conf.d/*.conf\ninclude extra\nglobal_defs {")
    world.say(CP, CONF_D, Reply(stderr=f"find: '/etc/keepalived/conf.d': {NO_FILE}", rc=1))
    absent = Reply(stderr=f"cat: /etc/keepalived/extra: {NO_FILE}", rc=1)
    world.say(CP, "sudo -n cat /etc/keepalived/extra", absent)
    assert decide(world, "B.7").verdict == "PASS"


def test_an_include_of_itself_ends() -> None:
    world = configured("global_defs {", "include keepalived.conf\nglobal_defs {")
    assert decide(world, "B.7").verdict == "UNKNOWN"


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
    world = configured('"/etc/keepalived/check_rke2_api.sh"', '"/bin/rm -rf /"')
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
    world = configured("    script_user root\n", users)
    world.say(CP, GETENT, getent)
    if run:
        world.say(CP, run, Reply())
    decided = decide(world, "B.7")
    assert decided.verdict == verdict, decided.text
    read = {CAT_CHECK, STAT_CHECK}
    ran = [each for each in world.commands(CP) if each.endswith(CHECK) and each not in read]
    assert ran == ([run] if run else [])


def test_a_user_that_cannot_read_the_key_fails() -> None:
    world = configured("script_user root", "script_user probe")
    refused = Reply(stderr="curl: (58) could not load PEM client certificate\n", rc=58)
    world.say(CP, f"sudo -n -u probe {CHECK}", refused)
    decided = decide(world, "B.7")
    assert decided.verdict == "FAIL"
    assert "run as probe gives rc 58" in decided.text


def test_the_blocks_own_user_wins() -> None:
    world = configured("    interval 2\n", "    interval 2\n    user probe\n")
    world.say(CP, f"sudo -n -u probe {CHECK}", Reply(rc=1))
    assert decide(world, "B.7").verdict == "FAIL"


@pytest.mark.parametrize("gate", ["B.7", "B.8"])
def test_only_applied_control_planes_are_judged(gate: str) -> None:
    world = healthy(CPS[:1])
    assert decide(world, gate).verdict == "PASS"
    for node in CPS[1:]:
        assert set(world.commands(node)) == {SHOW_SERVER, FIND_CONFIG}


@pytest.mark.parametrize("gate", ["B.7", "B.8"])
def test_where_nothing_is_applied_nothing_passes(gate: str) -> None:
    decided = decide(healthy_but_empty(), gate)
    assert decided.verdict == "FAIL"
    assert "RKE2 is applied nowhere" in decided.text


def healthy_but_empty() -> World:
    world, other = healthy(CPS[:1]), healthy(CPS[1:2])
    for (host, command), replies in other.replies.items():
        if host == "rke-cp01":
            world.say(host, command, *replies)
    return world


@pytest.mark.parametrize("gate", ["B.7", "B.8"])
def test_a_control_plane_of_which_it_is_not_known_is_unknown(gate: str) -> None:
    world = healthy(CPS[:1])
    world.silence("rke-cp03", reason="rke-cp03: no answer within 10 s")
    decided = decide(world, gate)
    assert decided.verdict == "UNKNOWN"
    assert "rke-cp03: no answer within 10 s" in decided.text


def rke2(text: str, node: str = CP) -> World:
    world = healthy()
    world.say(node, SED + CONFIG, Reply(text))
    return world


@pytest.mark.parametrize(
    ("old", "new", "verdict", "says"),
    [
        ("cni: none", "cni: [none]", "PASS", ""),
        ("cni: none", "cni:\n  - none", "PASS", ""),
        ("cni: none", "cni: canal", "FAIL", "cni is canal, expected none"),
        ("cni: none", "cni: [none, cilium]", "FAIL", "cni is none, cilium"),
        ("cni: none\n", "", "FAIL", "cni is not set"),
        ("cni: none", "cni: nonexistent", "FAIL", "cni is nonexistent"),
        ("cluster-cidr: 10.64.0.0/14", "cluster-cidr: ['10.64.0.0/14']", "PASS", ""),
        ("10.64.0.0/14", "10.64.0.0/16", "FAIL", "cluster-cidr is 10.64.0.0/16"),
        ("10.64.0.0/14", "10.65.0.0/14", "FAIL", "cluster-cidr"),
        ("10.64.0.0/14", "10.64.0.0/14,fd00::/56", "FAIL", "cluster-cidr"),
        ("cluster-cidr: 10.64.0.0/14\n", "", "FAIL", "cluster-cidr is not set"),
        ("10.68.0.0/16", "10.43.0.0/16", "FAIL", "service-cidr is 10.43.0.0/16"),
        ("  - 10.72.0.20\n", "", "FAIL", "lacks 10.72.0.20"),
        ("  - 10.72.0.20\n", "  - 10.72.0.200\n", "FAIL", "lacks 10.72.0.20"),
        ("  - 10.72.0.20\n", "  - 10.72.0.20\n  - api.example\n", "PASS", ""),
        ("server: https://10.72.0.20:9345\n", "", "FAIL", "server is not set"),
        ("https://10.72.0.20:9345", "https://10.72.0.21:9345", "FAIL", "server is"),
        ("https://10.72.0.20:9345", "https://10.72.0.20:9345/", "PASS", ""),
        ("https://10.72.0.20:9345", "https://10.72.0.20:6443", "FAIL", "server is"),
        ("cni: none", "cni: {a: b}", "UNKNOWN", ""),
        ("cni: none", "cni: [[none]]", "UNKNOWN", ""),
        ("cni: none", "cni: 'none", "UNKNOWN", ""),
        ("cni: none", "x: !!python/object:os.system", "UNKNOWN", ""),
        ("cni: none", "cni: none\nwhen: 2026-99-99", "UNKNOWN", ""),
    ],
)
def test_rke2_values(old: str, new: str, verdict: str, says: str) -> None:
    assert old in rke2_config(CP)
    decided = decide(rke2(rke2_config(CP).replace(old, new, 1)), "B.8")
    assert decided.verdict == verdict, decided.text
    assert says in decided.text


def test_the_first_has_no_server() -> None:
    world = rke2("server: https://10.72.0.20:9345\n" + rke2_config("rke-cp01"), "rke-cp01")
    decided = decide(world, "B.8")
    assert decided.verdict == "FAIL"
    assert "it bootstraps the cluster" in decided.text


@pytest.mark.parametrize(
    ("drop_ins", "verdict"),
    [
        ({"10-cni.yaml": "cni: canal\n"}, "FAIL"),
        ({"10-cni.yml": "cni: canal\n"}, "FAIL"),
        ({"10-cni.yaml": "cni: canal\n", "20-cni.yaml": "cni: none\n"}, "PASS"),
        ({"20-cni.yaml": "cni: canal\n", "10-cni.yaml": "cni: none\n"}, "FAIL"),
        ({"10-san.yaml": "tls-san+:\n  - api.example\n"}, "PASS"),
        ({"10-san.yaml": "tls-san: [api.example]\n"}, "FAIL"),
        ({"10-cni.yaml": "cni+: cilium\n"}, "FAIL"),
        ({"10-empty.yaml": ""}, "PASS"),
        ({"10-list.yaml": "- cni\n"}, "UNKNOWN"),
    ],
)
def test_drop_ins_are_merged_in_order(drop_ins: dict[str, str], verdict: str) -> None:
    world = healthy()
    folder = f"{CONFIG}.d"
    paths = ["/etc/rancher/rke2/rke2.yaml", CONFIG, *(f"{folder}/{name}" for name in drop_ins)]
    world.say(CP, FIND_RKE2, Reply("".join(f"{path}\n" for path in paths)))
    for name, text in drop_ins.items():
        world.say(CP, f"{SED}{folder}/{name}", Reply(text))
    assert decide(world, "B.8").verdict == verdict
    assert not any("rke2.yaml" in command for command in world.commands(CP))


def test_the_content_of_a_file_that_is_no_yaml_is_not_shown() -> None:
    decided = decide(rke2("secret-thing: 'hunter2"), "B.8")
    assert decided.verdict == "UNKNOWN"
    assert "hunter2" not in decided.text


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply("755 root root directory\n"), "FAIL"),
        (Reply("750 root adm directory\n"), "FAIL"),
        (Reply("1750 root root directory\n"), "FAIL"),
        (Reply("750 root root symbolic link\n"), "FAIL"),
        (Reply(stderr=f"stat: cannot statx '/etc/rancher/rke2': {NO_FILE}", rc=1), "FAIL"),
        (Reply(stderr="sudo: a password is required\n", rc=1), "UNKNOWN"),
        (Reply("750 root\n"), "UNKNOWN"),
    ],
)
def test_the_folder(reply: Reply, verdict: str) -> None:
    world = healthy()
    world.say(CP, STAT_RKE2, reply)
    assert decide(world, "B.8").verdict == verdict


def test_an_enabled_unit_without_any_file_fails() -> None:
    world = healthy()
    world.say(CP, FIND_RKE2, Reply("/etc/rancher/rke2/rke2.yaml\n"))
    decided = decide(world, "B.8")
    assert decided.verdict == "FAIL"
    assert "cni is not set" in decided.text


SECRETS = """\
token: "0123456789abcdef0123456789abcdef"
agent-token: abc
"token" : abc
etcd-s3-secret-key: abc
datastore-endpoint: mysql://u:abc@h
tls-san:
  - 10.72.0.20
agent-token: >-
  0123456789abcdef0123456789abcdef
token: |
    K10abc::server:0123456789abcdef0123456789abcdef
cni: none
"""


def test_sed_takes_the_secrets_out_on_the_host(tmp_path: Path) -> None:
    """The literal command, run by a real shell and a real sed."""
    file = tmp_path / "config.yaml"
    file.write_text(SECRETS)
    command = f"{SED}{file}".removeprefix("sudo -n ")
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stdout == "tls-san:\n  - 10.72.0.20\ncni: none\n"
