"""An asker whose hosts answer with captures, by how the command begins."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fixtures.core.requests import HostCommand, Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixtures.core.requests import Answer, Request
    from selftests.observe.captured import Captured

AT = datetime(2026, 12, 1, 4, 0, tzinfo=UTC)


def output(request: HostCommand, capture: Captured) -> Output:
    """The capture as the answer to a request."""
    stdout, stderr = capture.stdout.encode(), capture.stderr.encode()
    return Output(request, capture.rc, stdout, stderr, AT, 0.1)


class Answering:
    """Answers a command with the capture of the longest text that it begins with.

    Attributes:
        asked: every request, in order.
    """

    def __init__(self, captures: Mapping[str, Captured]) -> None:
        self.asked: list[Request] = []
        self._captures = captures

    def ask(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        """Answer them all."""
        self.asked += requests
        return {each: self._answer(each) for each in requests}

    def refresh(self, requests: Sequence[Request]) -> Mapping[Request, Answer]:
        """Likewise."""
        return self.ask(requests)

    def _answer(self, request: Request) -> Output:
        assert isinstance(request, HostCommand)
        fitting = [start for start in self._captures if request.command.startswith(start)]
        return output(request, self._captures[max(fitting, key=len)])
