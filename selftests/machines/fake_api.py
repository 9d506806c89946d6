"""A Kubernetes API that answers from a table."""

from __future__ import annotations

from typing import Any

from machines.guest.api import ApiError


class FakeApi:
    """Answers GET from a table, notes everything else."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.changes: list[tuple[str, str, Any]] = []

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, patch: str = "merge"
    ) -> dict[str, Any]:
        del patch
        if method != "GET":
            self.changes.append((method, path, body))
            if path in self.answers.get("refuse", ()) and method == "PATCH":
                raise ApiError(404, "not found")
            return {}
        answer: dict[str, Any] = self.answers[path.partition("?")[0]]
        return answer
