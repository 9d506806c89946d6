"""A process that has imported all a runner needs, and forks one for each order.

Started as a process of its own and told on stdin, one JSON object a line: `arguments` for pytest,
`environment`, and `output`, the file that gets what the runner prints. It answers with `status` as
`subprocess` counts it, once the runner has ended. A runner made so is a whole one: its signals,
files and sockets are its own.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest


class Importing:
    """Imports what a run imports only when it asks, while pytest rewrites what it has to."""

    def pytest_collection_finish(self) -> None:
        import fixtures  # noqa: PLC0415

        for found in walk_packages(fixtures.__path__, "fixtures."):
            if not found.name.endswith("__main__"):
                import_module(found.name)


def main() -> None:
    """Serve until stdin ends."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        pytest.main(["-p", "no:cacheprovider", "--collect-only", "tests"], plugins=[Importing()])
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(order["arguments"], order["environment"], order["output"])
        _, state = os.waitpid(child, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(state)}), flush=True)


def _run(arguments: list[str], environment: dict[str, str], output: str) -> None:
    from fixtures.options import Terminal  # noqa: PLC0415

    # Found anew, on the output of this runner.
    Terminal.fd = None
    for target, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, output, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        (2, output, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    ):
        os.dup2(os.open(path, flags, 0o600), target)
    os.environ.update(environment)
    sys.argv = ["pytest", *arguments]
    status = -1
    try:
        status = int(pytest.main(arguments))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status & 0xFF)


if __name__ == "__main__":
    main()
