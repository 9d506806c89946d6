"""Answers as no tool gives them: any text, real ones with something else in them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fixtures.observe.answers import Misread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
PIECES = st.sampled_from(
    [
        *"{}\n\"'\\#! :[]=\x00\u2028\r",
        *("@x ", "$A", "include a", "- ", "10.0.0.1/8", "priority 1", "global_defs"),
        *("Name:\tx\n", "Address: 1.2.3.4\n", "Address 1: 1.2.3.4 x\n"),
        *("vrrp_instance V", "vrrp_script S", "virtual_ipaddress", "track_script"),
    ]
)
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def damaged(data: st.DataObject, text: str) -> str:
    """A real answer with a piece cut out and something else put there."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    return text[:start] + data.draw(PIECES | st.text(max_size=4)) + text[end:]


def retyped(data: st.DataObject, text: str) -> str:
    """Real JSON with one value replaced by any other."""
    document = json.loads(text)
    path = data.draw(st.sampled_from(places(document)))
    return json.dumps(replaced(document, path, data.draw(VALUES)))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to each value of a document."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(deeper for key, each in inner for deeper in places(each, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The document with another value at that place."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


class AnyAnswer:
    """Whatever it is given, a reader reads it, or says that it cannot.

    A module takes these tests over in a class of its own.

    Attributes:
        samples: name → the reader, and a real answer.
    """

    samples: ClassVar[Mapping[str, tuple[Callable[[str], object], str]]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each test of each sample, and what damages JSON of those that are JSON."""
        of_json = metafunc.function is type(self).test_json_with_one_value_of_another_type
        begins = ("{", "[") if of_json else ""
        names = [n for n, (_, text) in self.samples.items() if text.lstrip().startswith(begins)]
        metafunc.parametrize("name", names)

    def _survives(self, name: str, text: str) -> None:
        with suppress(Misread):
            self.samples[name][0](text)

    @quick
    @given(text=st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join))
    @example(text="600 x 99999999999999999999 regular file\n")
    def test_any_text(self, name: str, text: str) -> None:
        self._survives(name, text)

    @quick
    @given(data=st.data())
    def test_a_damaged_answer(self, name: str, data: st.DataObject) -> None:
        self._survives(name, damaged(data, self.samples[name][1]))

    @quick
    @given(data=st.data())
    def test_json_with_one_value_of_another_type(self, name: str, data: st.DataObject) -> None:
        self._survives(name, retyped(data, self.samples[name][1]))
