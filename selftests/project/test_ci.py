"""The scripts under .ci say what is wrong and pass exit statuses on."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from selftests.project.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SKIPPED = """\
<testsuites><testsuite><testcase classname="selftests.lab" name="test_sshd">
<skipped type="pytest.skip" message="no sshd"/></testcase></testsuite></testsuites>
"""
RUN = '<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>'


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )


def executable(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("status", [0, 3])
def test_step_passes_the_exit_status_on(status: int) -> None:
    done = run(".ci/step", "a title", "sh", "-c", f"exit {status}")
    assert done.returncode == status
    assert done.stdout.startswith("==> a title\n")


def test_an_old_python_is_named(tmp_path: Path) -> None:
    old = executable(tmp_path / "python3", '#!/bin/sh\n[ "$2" != "import platform" ]\nexit 1\n')
    done = run(".ci/find-python", str(old))
    assert done.returncode == 1
    assert f"not found as PYTHON={old}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_python_without_ensurepip_is_told_apart(tmp_path: Path) -> None:
    half = executable(
        tmp_path / "python3",
        f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; esac\nexec "{sys.executable}" "$@"\n',
    )
    done = run(".ci/find-python", str(half))
    assert done.returncode == 1
    assert "venv or ensurepip module is missing" in done.stderr


def test_a_python_that_can_is_printed() -> None:
    assert run(".ci/find-python", sys.executable).stdout.strip() == sys.executable


def test_a_skipped_selftest_fails_ci(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(SKIPPED, "utf-8")
    done = run(sys.executable, ".ci/no_skips.py", report)
    assert done.returncode == 1
    assert "selftests.lab::test_sshd: no sshd" in done.stdout


def test_no_skips_passes_and_no_report_fails(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(RUN, "utf-8")
    assert run(sys.executable, ".ci/no_skips.py", report).returncode == 0
    assert run(sys.executable, ".ci/no_skips.py", report, tmp_path / "absent").returncode == 1


def test_the_machines_lab_says_what_it_needs(tmp_path: Path) -> None:
    executable(tmp_path / "uname", "#!/bin/sh\necho Plan9\n")
    done = subprocess.run(
        [".ci/machines"],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert "needs Linux and root (here: Plan9" in done.stderr
