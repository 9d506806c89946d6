"""The units of a drill, as systemd tells them."""

from __future__ import annotations

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.observe.answers import Misread
from fixtures.observe.drill_units import (
    Course,
    DrillUnits,
    Transient,
    parse_leftovers,
    parse_services,
    parse_transients,
)
from selftests.gates.drilling import drilled, node
from selftests.gates.texts import unit
from selftests.gates.world import Reply

HOST = "rke-cp02"
NAME = "rke2-drill-20261130T120000Z-ab12-C-6-1"
UNDO = "rke2-undo-20261130T120000Z-ab12-C-6"
SHOW_SERVICES = (
    "systemctl show -p Id,LoadState,ActiveState,SubState,Result,NRestarts,UnitFileState,"
    "ExecMainStartTimestamp keepalived.service rke2-server.service"
)
SHOW_STEP = (
    f"systemctl show -p Id,LoadState,ActiveState,SubState,Result,ExecMainStatus {NAME}.service"
)
SHOW_UNDO = f"systemctl show -p Id,LoadState,ActiveState,SubState {UNDO}.timer {UNDO}.service"
LEFTOVERS = "systemctl list-units --all --plain --no-legend 'rke2-undo-*' 'rke2-drill-*'"


def shown(name: str, load: str, active: str, sub: str, **more: str) -> str:
    values = {"Id": name, "LoadState": load, "ActiveState": active, "SubState": sub} | more
    return "".join(f"{key}={value}\n" for key, value in values.items())


def test_services() -> None:
    world = drilled()
    both = unit("keepalived.service") + "\n" + unit("rke2-server.service", ActiveState="failed")
    world.say(HOST, SHOW_SERVICES, Reply(both))
    services = DrillUnits(world.cluster, world).services(node())
    assert (services.keepalived.active, services.server.active) == ("active", "failed")


def test_a_masked_server_is_told_apart_from_a_missing_one() -> None:
    masked = {"LoadState": "masked", "ActiveState": "inactive", "UnitFileState": "masked"}
    services = parse_services(
        unit("keepalived.service") + "\n" + unit("rke2-server.service", **masked)
    )
    assert (services.server.load, services.server.enabled) == ("masked", False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        unit("keepalived.service"),
        unit("rke2-server.service") + "\n" + unit("keepalived.service"),
        unit("keepalived.service") + unit("rke2-server.service"),
    ],
)
def test_other_units_are_refused(text: str) -> None:
    with pytest.raises(Misread):
        parse_services(text)


@pytest.mark.parametrize(
    ("states", "result", "status", "course"),
    [
        ("loaded active exited", "success", "0", Course.DONE),
        ("loaded activating start", "success", "0", Course.RUNNING),
        ("loaded deactivating stop", "success", "0", Course.RUNNING),
        ("loaded inactive dead", "success", "0", Course.WAITING),
        ("loaded failed failed", "exit-code", "1", Course.FAILED),
        ("loaded failed failed", "signal", "15", Course.FAILED),
        ("loaded failed failed", "oom-kill", "9", Course.FAILED),
        ("loaded activating start", "timeout", "0", Course.FAILED),
        ("loaded active exited", "success", "7", Course.FAILED),
        ("not-found inactive dead", "success", "0", Course.ABSENT),
    ],
)
def test_the_course_of_a_step(states: str, result: str, status: str, course: Course) -> None:
    world = drilled()
    text = shown(f"{NAME}.service", *states.split(), Result=result, ExecMainStatus=status)
    world.say(HOST, SHOW_STEP, Reply(text))
    step = DrillUnits(world.cluster, world).step(node(), NAME)
    assert (step.course, step.status) == (course, int(status))


TIMER, SERVICE = f"{UNDO}.timer", f"{UNDO}.service"


@pytest.mark.parametrize(
    ("timer", "service", "armed", "gone"),
    [
        ("loaded active waiting", "loaded inactive dead", True, False),
        ("loaded active running", "loaded activating start", False, False),
        ("not-found inactive dead", "loaded activating start", False, False),
        ("not-found inactive dead", "loaded failed failed", False, False),
        ("not-found inactive dead", "not-found inactive dead", False, True),
        ("loaded inactive dead", "not-found inactive dead", False, False),
    ],
)
def test_an_undo(timer: str, service: str, armed: bool, gone: bool) -> None:
    world = drilled()
    text = shown(TIMER, *timer.split()) + "\n" + shown(SERVICE, *service.split())
    world.say(HOST, SHOW_UNDO, Reply(text))
    undo = DrillUnits(world.cluster, world).undo(node(), UNDO)
    assert (undo.armed, undo.gone) == (armed, gone)


@pytest.mark.parametrize(
    "text",
    [
        shown("other.service", "loaded", "active", "exited"),
        shown(f"{NAME}.service", "loaded", "active", ""),
        shown(f"{NAME}.service", "loaded", "active", "exited", ExecMainStatus="-1"),
        shown(f"{NAME}.service", "loaded", "active", "exited") + "Id=twice\n",
        "Failed to connect to bus\n",
    ],
)
def test_what_is_no_such_unit_is_refused(text: str) -> None:
    with pytest.raises(Misread):
        parse_transients(text, f"{NAME}.service")


@pytest.mark.parametrize("name", ["", "a b", "a;reboot", "-x", "a.service", "a\n"])
def test_a_name_that_is_none_is_never_sent(name: str) -> None:
    world = drilled()
    with pytest.raises(ValueError, match="not a unit's name"):
        DrillUnits(world.cluster, world).step(node(), name)
    assert not world.sent


def test_leftovers() -> None:
    world = drilled()
    listed = (
        f"{UNDO}.timer loaded active waiting /usr/bin/systemctl --no-block start x\n"
        f"{NAME}.service loaded failed failed [systemd-run] systemctl stop x\n"
    )
    world.say(HOST, LEFTOVERS, Reply(listed))
    left = DrillUnits(world.cluster, world).leftovers(node())
    assert [str(each) for each in left] == [
        f"{UNDO}.timer (loaded, active, waiting)",
        f"{NAME}.service (loaded, failed, failed)",
    ]


def test_no_leftovers_is_an_answer() -> None:
    assert parse_leftovers("") == ()


@pytest.mark.parametrize("line", ["0 loaded units listed.", "ssh.service loaded active running x"])
def test_what_is_no_leftover_is_refused(line: str) -> None:
    with pytest.raises(Misread):
        parse_leftovers(line)


def test_a_silent_node_is_undecided() -> None:
    world = drilled()
    world.say(HOST, SHOW_STEP, Reply(silent="rke-cp02: no answer"))
    with pytest.raises(Undecided, match="rke-cp02: no answer"):
        DrillUnits(world.cluster, world).step(node(), NAME)


def test_a_unit_without_a_known_status_is_judged_by_its_state() -> None:
    assert Transient("a.service", "loaded", "active", "exited").course is Course.DONE
