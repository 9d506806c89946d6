"""Takes docs/images/*.png anew, from runs on the embedded lab: `python -m docs.pictures`.

Chromium is needed. Look at what it made before you commit it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.browser import Browser, browser

_IMAGES: Final = Path(__file__).with_name("images")
_RED: Final = "lab/scenarios/c-keepalived-failed.yaml"
_WIDTH: Final = 1240


def main() -> None:
    """Rehearse phases 0 to C, once with a fault, and take both pictures."""
    with tempfile.TemporaryDirectory(prefix="rke2-pictures-") as folder, browser() as tab:
        reports = Path(folder) / "reports"
        _run(reports, "-m", "gate_0 or gate_b", "--attest=0.3=seen in the repository's settings")
        red = _run(reports, "-m", "gate_c and not drill", f"--scenario={_RED}", status=1)
        _run(reports, "-m", "gate_c and not drill")
        drill = _run(reports, "--gate=C.5", "--authorize=Grace Hopper")
        _take(tab, red, "report", height=1180)
        _take(tab, drill, "drill", height=1260, at="#gate-C\\\\.5")


def _run(reports: Path, *arguments: str, status: int = 0) -> Path:
    """One run on the lab that ends as it must; the report it wrote."""
    before = set(reports.glob("*/2*.html"))
    command = [sys.executable, "-m", "pytest", "--lab", f"--reports={reports}", *arguments]
    ended = subprocess.run([*command, "--operator=Ada Lovelace", "-q"], check=False, timeout=300)
    if ended.returncode != status:
        raise SystemExit(f"exit {ended.returncode}, expected {status}: a picture of that is no use")
    (report,) = set(reports.glob("*/2*.html")) - before
    return report


def _take(tab: Browser, page: Path, name: str, *, height: int, at: str = "body") -> None:
    tab.screen(_WIDTH, height)
    tab.send("Emulation.setScrollbarsHidden", hidden=True)
    tab.open("about:blank")
    tab.open(page)
    if at != "body":
        tab.evaluate(
            "document.getElementById('show_all_details').click();"
            f"document.querySelector('{at}').closest('tbody').scrollIntoView()"
        )
    (_IMAGES / f"{name}.png").write_bytes(tab.picture())


if __name__ == "__main__":
    main()
