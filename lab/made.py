"""What the operator made by hand in this lab stays made, from one run to the next."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from lab.world import World


@dataclass(frozen=True, slots=True)
class Made:
    """Which of the awaited Secrets were made, and when.

    Attributes:
        path: `{"namespace/name": creationTimestamp}`; it need not be there.
    """

    path: Path

    def recall(self, world: World) -> None:
        """Put those that were made into the world, and note those that will be."""
        storage = world.storage
        for key, moment in self._noted().items():
            namespace, _, name = key.partition("/")
            secret = storage.awaited.pop((namespace, name), None)
            if secret is not None:
                secret["metadata"]["creationTimestamp"] = moment
                world.objects.put(secret)
        storage.note = self._note

    def _note(self, namespace: str, name: str, moment: str) -> None:
        draft = self.path.with_suffix(".draft")
        noted = {**self._noted(), f"{namespace}/{name}": moment}
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(noted) + "\n", encoding="utf-8")
        draft.replace(self.path)

    def _noted(self) -> dict[str, str]:
        try:
            noted: dict[str, str] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return noted
