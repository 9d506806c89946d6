"""Answers as no tool gives them: any text, real ones with something else in them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

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
