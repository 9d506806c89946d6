"""Transient units outlive whoever made them, and say what became of them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from selftests.lab.living import Living, live

if TYPE_CHECKING:
    from selftests.lab.world import Said

CP = "rke-cp01"
RUN = "sudo -n systemd-run --quiet --property=Type=oneshot"
STEP = f"{RUN} --unit=rke2-drill-1 --property=RemainAfterExit=yes --"
STATE = "-p Id,LoadState,ActiveState,SubState,Result,ExecMainStatus"
LEFT = "systemctl list-units --all --plain --no-legend 'rke2-undo-*' 'rke2-drill-*'"


def undo(seconds: float) -> str:
    return (
        f"{RUN} --unit=rke2-undo-1 --on-active={seconds}s --timer-property=AccuracySec=1s -- "
        "systemctl --no-block start keepalived.service"
    )


def values(said: Said) -> dict[str, str]:
    return dict(line.split("=", 1) for line in said.out.splitlines() if line)


def test_a_step_that_ended_well_remains_until_it_is_stopped() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, f"{STEP} systemctl stop keepalived.service")
        shown = values(await lab.ask(CP, f"systemctl show {STATE} rke2-drill-1.service"))
        assert (shown["ActiveState"], shown["SubState"]) == ("active", "exited")
        assert (shown["Result"], shown["ExecMainStatus"]) == ("success", "0")
        await lab.must(CP, "sudo -n systemctl stop rke2-drill-1.service")
        shown = values(await lab.ask(CP, f"systemctl show {STATE} rke2-drill-1.service"))
        assert shown["LoadState"] == "not-found"

    live(test)


def test_a_step_that_failed_remains_failed_until_it_is_reset() -> None:
    async def test(lab: Living) -> None:
        said = await lab.ask(CP, f"{STEP} sh -c 'exit 7'")
        assert said.rc == 1
        assert said.err.startswith("Job for rke2-drill-1.service failed")
        await lab.must(CP, "sudo -n systemctl stop rke2-drill-1.service")
        shown = values(await lab.ask(CP, f"systemctl show {STATE} rke2-drill-1.service"))
        assert (shown["ActiveState"], shown["Result"]) == ("failed", "exit-code")
        assert shown["ExecMainStatus"] == "7"
        await lab.must(CP, "sudo -n systemctl reset-failed rke2-drill-1.service")
        assert await lab.must(CP, LEFT) == ""

    live(test)


def test_a_name_is_used_once() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, f"{STEP} true")
        said = await lab.ask(CP, f"{STEP} true")
        assert said.rc == 1
        assert "Unit rke2-drill-1.service was already loaded" in said.err

    live(test)


def test_a_step_goes_on_without_who_asked_for_it() -> None:
    async def test(lab: Living) -> None:
        line = f"{STEP} sh -c 'sleep 0.05; touch /var/lib/done'"
        asked = asyncio.ensure_future(lab.ask(CP, line))
        await asyncio.sleep(0.01)
        asked.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asked
        await lab.until(lambda: "done" in lab.world.hosts[CP].files.children("/var/lib"))

    live(test)


def test_an_armed_undo_waits_and_is_gone_when_it_is_disarmed() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, undo(60))
        names = "rke2-undo-1.timer rke2-undo-1.service"
        timer, service = (await lab.must(CP, f"systemctl show {STATE} {names}")).split("\n\n")
        assert "ActiveState=active\nSubState=waiting" in timer
        assert "LoadState=loaded\nActiveState=inactive" in service
        assert len((await lab.must(CP, LEFT)).splitlines()) == 2
        await lab.must(CP, "sudo -n systemctl stop rke2-undo-1.timer")
        assert await lab.must(CP, LEFT) == ""

    live(test)


def test_an_undo_that_nobody_disarms_fires_and_leaves_nothing() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, undo(0.05))
        await lab.must(CP, "sudo -n systemctl stop keepalived.service")
        await lab.until(lambda: lab.holders() == ["rke-cp02"])
        await lab.until(lambda: lab.holders() == [CP])
        assert await lab.must(CP, LEFT) == ""

    live(test)


def test_a_masked_unit_is_started_by_nobody() -> None:
    async def test(lab: Living) -> None:
        await lab.must(CP, "sudo -n systemctl mask --now rke2-server.service")
        said = await lab.ask(CP, "sudo -n systemctl start rke2-server.service")
        assert (said.rc, said.err) == (
            1,
            "Failed to start rke2-server.service: Unit rke2-server.service is masked.\n",
        )
        shown = values(await lab.ask(CP, "systemctl show -p LoadState,UnitFileState rke2-server"))
        assert shown == {"LoadState": "masked", "UnitFileState": "masked"}
        await lab.must(CP, "sudo -n systemctl unmask rke2-server.service")
        shown = values(await lab.ask(CP, "systemctl show -p LoadState,UnitFileState rke2-server"))
        assert shown == {"LoadState": "loaded", "UnitFileState": "enabled"}

    live(test)


def test_units_are_not_for_everybody() -> None:
    async def test(lab: Living) -> None:
        said = await lab.ask(CP, f"{STEP.removeprefix('sudo -n ')} true")
        assert (said.rc, "authentication required" in said.err) == (1, True)

    live(test)


def test_what_a_step_prints_is_in_its_journal() -> None:
    async def test(lab: Living) -> None:
        said = "sh -c 'echo one; echo two >&2; printf thr; echo ee; exit 1'"
        await lab.ask(CP, f"{STEP} {said}")
        ask = "sudo -n journalctl -u rke2-drill-1.service -o cat --no-pager"
        assert await lab.must(CP, ask) == "one\ntwo\nthree\n"

    live(test)


def test_a_service_that_restarts_tries_until_it_succeeds_or_is_stopped() -> None:
    again = "--property=Restart=on-failure --property=RestartSec=50ms"
    attempt = "sh -c 'echo x >> /var/lib/tries; test -e /var/lib/go'"

    async def test(lab: Living) -> None:
        files = lab.world.hosts[CP].files
        await lab.must(CP, f"{RUN} --no-block --unit=rke2-undo-1 {again} -- {attempt}")
        await lab.until(
            lambda: files.has("/var/lib/tries") and files.read("/var/lib/tries") >= b"x\nx"
        )
        shown = values(await lab.ask(CP, f"systemctl show {STATE} rke2-undo-1.service"))
        assert shown["ActiveState"] == "activating"
        await lab.must(CP, "sudo -n touch /var/lib/go")
        await lab.until(lambda: "rke2-undo-1.service" not in lab.world.hosts[CP].units)
        assert await lab.must(CP, LEFT) == ""

    live(test)
