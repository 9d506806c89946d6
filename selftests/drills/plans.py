"""What a plan printed, and whether what was sent afterwards is that plan."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_HOST = r"[\w<>-]+"
_BEGINS = re.compile(r"(?P<name>phase|at the end|[A-Z][\w.-]*)(?:\[\S+\]|:)?  ?\S.*")
_HOW = re.compile(r"  (?P<how>only if .*|repeat until .*|at once, .*|already asked .*):")
_SENT = re.compile(
    rf"(?: {{2}}| {{6}})(?P<mark>- |! [^:]+: |  )(?P<hosts>{_HOST}(?:, {_HOST})*) (?P<what>[$-].*)"
)


@dataclass(frozen=True)
class Block:
    """What is sent at once.

    Attributes:
        of: a gate's id, `phase` for what begins one, `at the end`.
        sent: `host $ command` or `bastion -> …`.
        how: the line above it; empty if it is sent once, for sure, in its turn.
        stretch: blocks under the same such line have the same number.
    """

    of: str
    sent: frozenset[str]
    how: str = ""
    stretch: int = 0

    @property
    def optional(self) -> bool:
        return self.how.startswith("only if")

    @property
    def repeated(self) -> bool:
        return "repeat until" in self.how

    def only(self, wanted: Callable[[str], bool]) -> Block:
        return replace(self, sent=frozenset(filter(wanted, self.sent)))


def blocks(text: str) -> list[Block]:
    """The blocks of a printed plan, in the order in which they are sent.

    What the gates of a phase ask at once when it begins is one block, where the phase begins.
    """
    found = list(_printed(text.splitlines()))
    for place, block in enumerate(found):
        if block.of == "phase":
            end = next(
                (n for n, each in enumerate(found) if n > place and each.of == "phase"), len(found)
            )
            batch = [each for each in found[place:end] if each.how.startswith("at once")]
            found[place] = replace(block, sent=block.sent.union(*(each.sent for each in batch)))
    return [each for each in found if not each.how.startswith(("at once", "already asked"))]


def _printed(lines: Iterable[str]) -> Iterator[Block]:
    of, how, stretch, sent = "", "", 0, set[str]()
    for line in [*lines, ""]:
        match = _SENT.fullmatch(line)
        if sent and (match is None or match["mark"] != "  "):
            yield Block(of, frozenset(sent), how, stretch)
            sent = set()
        if match is not None:
            if how and not line.startswith(" " * 6):
                how, stretch = "", stretch + 1
            sent |= {f"{host} {match['what']}" for host in match["hosts"].split(", ")}
        elif begins := _BEGINS.fullmatch(line):
            of, how = begins["name"], ""
        elif under := _HOW.fullmatch(line):
            how, stretch = under["how"], stretch + 1


def differences(plan: Sequence[Block], sent: Sequence[str]) -> list[str]:
    """Where what was sent leaves the plan; empty if it is the plan but for repeats.

    Every block is sent whole, in its order. Of one that is optional any part may be left out. A
    stretch that is repeated may be cut short, as a look ends that cannot decide, but the last time.
    One that is both is sent any number of times.
    """
    walk = _Walk([block for block in plan if block.sent])
    for number, each in enumerate(sent):
        if not walk.take(each):
            return [f"{number}: {each}", "expected one of:", *sorted(walk.expected())]
    return [] if walk.over else ["never sent:", *sorted(walk.expected())]


@dataclass(frozen=True)
class _Place:
    """A place in the plan: at which block, what of it is still to be sent.

    Attributes:
        cut: something of this repetition was left out, so that it cannot be the last one.
    """

    block: int
    left: frozenset[str]
    cut: bool = False


class _Walk:
    """Every place of the plan where what was sent so far can have led to."""

    def __init__(self, plan: Sequence[Block]) -> None:
        self._plan = plan
        self._places = self._reached({self._at(0)})

    @property
    def over(self) -> bool:
        return any(place.block == len(self._plan) for place in self._places)

    def expected(self) -> set[str]:
        return {each for place in self._places for each in place.left}

    def take(self, sent: str) -> bool:
        """Go on by one command; False if it is none of the plan's next ones."""
        found = {
            replace(place, left=place.left - {sent}) for place in self._places if sent in place.left
        }
        if found:
            self._places = self._reached(found)
        return bool(found)

    def _reached(self, found: set[_Place]) -> set[_Place]:
        reached, queue = set(found), list(found)
        while queue:
            for further in self._after(queue.pop()):
                if further not in reached:
                    reached.add(further)
                    queue.append(further)
        return reached

    def _after(self, place: _Place) -> Iterator[_Place]:
        if place.block == len(self._plan):
            return
        block, number = self._plan[place.block], place.block + 1
        last = number == len(self._plan) or self._plan[number].stretch != block.stretch
        if block.optional or not (place.left or block.repeated):
            yield self._at(number)
        if block.repeated:
            cut = place.cut or bool(place.left)
            if not last:
                yield self._at(number, cut=cut)
            elif not cut:
                yield self._at(number)
            if last:
                yield self._at(self._first_of(block))

    def _first_of(self, block: Block) -> int:
        return next(n for n, each in enumerate(self._plan) if each.stretch == block.stretch)

    def _at(self, block: int, *, cut: bool = False) -> _Place:
        there = block < len(self._plan)
        return _Place(block, self._plan[block].sent if there else frozenset(), cut)
