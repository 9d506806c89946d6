"""How a run begins, when somebody ends it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selftests.session.suite import log_lines
from selftests.session.test_runs import MEDDLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selftests.session.suite import Ended


def test_a_signal_while_the_run_is_opened_still_gives_it_an_end(
    tmp_path: Path, with_plugin: Callable[..., Ended]
) -> None:
    source = MEDDLE + (
        "from fixtures.applylog.ledger import Ledger\n"
        "append = Ledger.append\n"
        "def signalled(self, kind, /, **fields):\n"
        "    line = append(self, kind, **fields)\n"
        "    if kind == 'run-start': os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return line\n"
        "Ledger.append = signalled\n"
    )
    ended = with_plugin(source, "--lab", f"--reports={tmp_path}/r", "--gate=B.4")
    assert ended.status == 2, ended.text
    kinds = [line["kind"] for line in log_lines(tmp_path / "r")]
    assert kinds == ["run-start", "run-end"]
