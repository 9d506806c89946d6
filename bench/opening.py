"""How long a reader waits for the page of a long apply log, beside that of a short one."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from bench import logbook
from bench.browser import Browser, browser, installed
from fixtures.applylog import render

ENTRIES: Final = 10_000
FEW: Final = 100
GOAL: Final = 1.0
"""Seconds from asking for the page to the first answer of a filter."""

GOAL_BYTES: Final = 6_000_000
_TURNS: Final = 7
_FIRST_REACTION: Final = """
new Promise((done) => {
  const [loaded] = performance.getEntriesByType("navigation");
  const box = document.getElementById("filter-text");
  const asked = performance.now();
  box.value = "keepalived";
  box.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() => done([
    loaded.domContentLoadedEventEnd / 1000,
    (performance.now() - asked) / 1000,
    document.getElementById("filter-count").textContent,
  ]), 0));
})
"""


@dataclass(frozen=True)
class Opened:
    """One page, opened several times.

    Attributes:
        entries: verdicts on gates in its log.
        log: bytes of the log.
        page: bytes of the page.
        rendering: seconds to make it.
        loaded: seconds until its document and its script were done, each time.
        reacted: seconds from then until a first search was answered on the screen, each time.
    """

    entries: int
    log: int
    page: int
    rendering: float
    loaded: tuple[float, ...]
    reacted: tuple[float, ...]

    @property
    def usable(self) -> float:
        """Seconds until it can be used, the median."""
        return median(map(sum, zip(self.loaded, self.reacted, strict=True)))


def measured() -> list[Opened] | None:
    """Both pages; None without a browser."""
    if installed() is None:
        return None
    with tempfile.TemporaryDirectory(prefix="rke2-bench-") as folder, browser() as tab:
        tab.screen(1280, 900)
        return [_open(tab, Path(folder) / str(entries), entries) for entries in (FEW, ENTRIES)]


def told(few: Opened, many: Opened) -> list[str]:
    """The figures, the longer log's beside the shorter one's."""
    longer, slower, larger = (
        many.entries // few.entries,
        many.usable / few.usable,
        many.page / few.page,
    )
    ratio = f"{slower:.1f} times as long to open, {larger:.1f} times as large"
    return [*map(_told, (few, many)), f"{longer} times as many entries: {ratio}"]


def _told(page: Opened) -> str:
    return (
        f"apply-log.html of {page.entries:,} entries: usable after {page.usable * 1000:.0f} ms "
        f"({median(page.loaded) * 1000:.0f} ms loaded, then {median(page.reacted) * 1000:.0f} ms "
        f"to the first search's answer); page {page.page / 1e6:.1f} MB of a log of "
        f"{page.log / 1e6:.1f} MB, rendered in {page.rendering:.1f} s"
    )


def missed(many: Opened) -> list[str]:
    """The goals that the page of the longer log does not reach."""
    found = []
    if many.usable >= GOAL:
        found.append(f"apply-log.html of {many.entries:,} entries: usable within {GOAL:g} s")
    if many.page >= GOAL_BYTES:
        found.append(f"apply-log.html of {many.entries:,} entries: below {GOAL_BYTES / 1e6:g} MB")
    return found


def _open(tab: Browser, folder: Path, entries: int) -> Opened:
    log = logbook.write(folder, entries)
    started = time.perf_counter()
    page = render.cumulative(folder, datetime.now(UTC))
    rendering = time.perf_counter() - started
    loaded, reacted = [], []
    for _ in range(_TURNS):
        tab.open("about:blank")
        tab.open(page)
        ready, reaction, _ = tab.evaluate(_FIRST_REACTION)
        loaded.append(ready)
        reacted.append(reaction)
    size = page.stat().st_size
    return Opened(entries, log, size, rendering, tuple(loaded), tuple(reacted))
