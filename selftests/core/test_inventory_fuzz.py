"""Whatever a file holds, loading gives a cluster or an `InventoryError` of one printable line."""

from __future__ import annotations

import copy
import json
import random
import string
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fixtures.core.inventory_file import InventoryError, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RELAXED = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
YAMLISH = st.text(
    string.printable + "\t\0\x1b\ufeff\u202e\ud7ff é-:?!&*|>%@`{}[]#\"'", max_size=200
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["0755", "yes", "10.72.0.20", "10.0.0.0/8", "1e999", ".nan", "a/../b", "~x"])
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def judged(path: Path, hosts: Path | None = None) -> bool:
    """Whether it loads; anything but a cluster or one printable line is a failed test."""
    mistake = None
    try:
        load(path, hosts_json=hosts)
    except InventoryError as error:
        mistake = error
    if mistake is not None:
        assert str(mistake).isprintable()
        assert str(mistake).startswith((str(path), str(hosts)))
    return mistake is None


def spots(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a tree, as the keys that lead there."""
    yield at
    if isinstance(tree, dict | list):
        for key, child in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from spots(child, (*at, key))


def changed(tree: Any, at: tuple[Any, ...], value: Any) -> Any:
    """A copy of a tree with another value in one place."""
    if not at:
        return value
    tree = copy.deepcopy(tree)
    holder = tree
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    return tree


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "inventory.yaml"


@given(content=st.binary(max_size=300))
@RELAXED
def test_bytes(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    assert not judged(path)


@given(content=YAMLISH)
@example(content='"\\UFFFFFFFF"')
@example(content="? ? ? ?")
@example(content="%TAG ! tag:x,2000:\n--- !a b")
@example(content="a: 'b\n\n  c")
@example(content="!!binary x")
@example(content="- !<x> y")
@RELAXED
def test_text(content: str, path: Path) -> None:
    path.write_text(content, encoding="utf-8")
    assert not judged(path)


@given(tree=TREES)
@RELAXED
def test_trees(tree: Any, path: Path) -> None:
    path.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
    assert not judged(path)


@given(data=st.data())
@RELAXED
def test_one_value_replaced(data: st.DataObject, path: Path, good: str) -> None:
    tree = yaml.safe_load(good)
    at = data.draw(st.sampled_from(list(spots(tree))))
    broken = changed(tree, at, data.draw(TREES))
    path.write_text(yaml.safe_dump(broken, sort_keys=False), encoding="utf-8")
    judged(path)


@given(data=st.data())
@RELAXED
def test_text_spliced_in(data: st.DataObject, path: Path, good: str) -> None:
    begin = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(begin, min(len(good), begin + 20)))
    path.write_text(good[:begin] + data.draw(YAMLISH) + good[end:], encoding="utf-8")
    judged(path)


@given(tree=TREES)
@RELAXED
def test_hosts_json(tree: Any, path: Path, good: str) -> None:
    path.write_text(good, encoding="utf-8")
    hosts = path.with_name("hosts.json")
    hosts.write_text(json.dumps({"all": {"children": {"a": {"hosts": tree}}}}), encoding="utf-8")
    assert not judged(path, hosts)


@given(
    draw=st.fixed_dictionaries(
        {
            "seed": st.integers(0, 2**32),
            "indent": st.integers(2, 6),
            "flow": st.sampled_from([True, None]),
            "port": st.integers(1, 65535),
            "connect": st.floats(0.001, 10**6).map(lambda seconds: round(seconds, 3)),
            "priorities": st.lists(st.integers(1, 254), min_size=3, max_size=3, unique=True),
            "name": st.from_regex(r"[a-z0-9][a-z0-9.-]{0,30}", fullmatch=True),
        }
    )
)
@RELAXED
def test_valid_variations_load(draw: dict[str, Any], path: Path, good: str) -> None:
    tree = yaml.safe_load(good)
    tree["name"] = draw["name"]
    tree["bastion"]["port"] = draw["port"]
    tree["limits"]["connect"] = draw["connect"]
    for node, priority in zip(tree["nodes"], draw["priorities"], strict=False):
        node["vip_priority"] = priority
    keys = list(tree)
    random.Random(draw["seed"]).shuffle(keys)
    text = yaml.safe_dump(
        {key: tree[key] for key in keys},
        sort_keys=False,
        indent=draw["indent"],
        default_flow_style=draw["flow"],
    )
    path.write_text(f"# comment\n{text}", encoding="utf-8")
    cluster = load(path)
    assert cluster.name == draw["name"]
    assert cluster.bastion.port == draw["port"]
    assert cluster.limits.connect == draw["connect"]
    assert [node.vip_priority for node in cluster.control_planes] == draw["priorities"]
