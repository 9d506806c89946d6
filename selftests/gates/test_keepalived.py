"""B.7: the configuration is the design's, wherever it is written."""

from __future__ import annotations

import pytest

from selftests.gates.deciding import decide
from selftests.gates.texts import CAT_CONF, conf
from selftests.gates.world import Reply, configured, healthy

CP = "rke-cp02"
SECOND = "vrrp_instance VI_0 {\nvirtual_ipaddress {\n10.72.0.20\n}\n}\nvrrp_instance VI_1 {"
NO_FILE = "No such file or directory\n"


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
    decided = decide(configured(CP, old, new), "B.7")
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
    decided = decide(configured(CP, old, new), "B.7")
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
    decided = decide(configured(CP, old, new), "B.7")
    assert decided.verdict == "UNKNOWN", decided.text
    assert decided.text.startswith(f"{CP}: ")


def test_a_known_difference_fails_though_another_cannot_be_read() -> None:
    world = configured(CP, "priority 100", "priority high")
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
    world = configured(CP, "global_defs {", "include conf.d/*.conf\ninclude extra\nglobal_defs {")
    world.say(CP, CONF_D, Reply(stderr=f"find: '/etc/keepalived/conf.d': {NO_FILE}", rc=1))
    absent = Reply(stderr=f"cat: /etc/keepalived/extra: {NO_FILE}", rc=1)
    world.say(CP, "sudo -n cat /etc/keepalived/extra", absent)
    assert decide(world, "B.7").verdict == "PASS"


def test_an_include_of_itself_ends() -> None:
    world = configured(CP, "global_defs {", "include keepalived.conf\nglobal_defs {")
    assert decide(world, "B.7").verdict == "UNKNOWN"
