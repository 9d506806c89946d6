"""What the API server and controllers add to reading and writing objects, by kind.

Whoever plays a controller registers here what the API itself does for it: what is filled in or
refused when an object is made, whether a deleted one stays a while, and parts of an object such as
`pods/eviction`. What happens afterwards is the controller's own: it is told of changes by
`Store.watch` and `Timeline.watch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.apipaths import Target
    from lab.objects import Object, Store
    from lab.statuses import Answer
    from lab.world import World


class Admits(Protocol):
    """Called before an object is stored."""

    def __call__(self, world: World, store: Store, item: Object) -> Answer | None:
        """Fill in what the API fills in; an answer refuses the object."""
        ...


class Lingers(Protocol):
    """Called when an object is to be deleted, its `deletionTimestamp` set but not stored yet."""

    def __call__(self, world: World, store: Store, item: Object) -> bool:
        """Whether it stays until a controller calls `apiwrites.finish`."""
        ...


class Part(Protocol):
    """Answers requests for a part of an object, such as `pods/eviction`."""

    def __call__(
        self, world: World, store: Store, item: Object, target: Target, body: Object
    ) -> Answer:
        """The answer; `body` is empty where none was sent."""
        ...


ADMITS: dict[str, list[Admits]] = {}
LINGERS: dict[str, Lingers] = {}
PARTS: dict[tuple[str, str, str], Part] = {}


def admits(kind: str) -> Callable[[Admits], Admits]:
    """Register: it sees every object of that kind before it is stored, after those before it."""

    def register(function: Admits) -> Admits:
        ADMITS.setdefault(kind, []).append(function)
        return function

    return register


def lingers(kind: str) -> Callable[[Lingers], Lingers]:
    """Register: it decides whether a deleted object of that kind stays a while."""

    def register(function: Lingers) -> Lingers:
        LINGERS[kind] = function
        return function

    return register


def part(kind: str, name: str, method: str) -> Callable[[Part], Part]:
    """Register: it answers that method on that part of objects of that kind."""

    def register(function: Part) -> Part:
        PARTS[kind, name, method] = function
        return function

    return register
