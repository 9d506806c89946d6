"""RKE2's files are merged as RKE2 merges them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.rke2_config import in_reading_order, merged, parse_config

FOLDER = "/etc/rancher/rke2"


def test_only_what_rke2_reads_in_its_order() -> None:
    found = [
        f"{FOLDER}/rke2.yaml",
        f"{FOLDER}/config.yaml.d/b.yml",
        f"{FOLDER}/config.yaml.d/a.YAML",
        f"{FOLDER}/config.yaml.d/c.yamlx",
        f"{FOLDER}/other/config.yaml",
        f"{FOLDER}/config.yaml",
    ]
    assert in_reading_order(found) == (
        f"{FOLDER}/config.yaml",
        f"{FOLDER}/config.yaml.d/a.YAML",
        f"{FOLDER}/config.yaml.d/b.yml",
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("# nothing\n", {}),
        ("token: x\nother: [1]\n", {}),
        ("tls-san: a, b,\n", {"tls-san": ("a", "b")}),
        ("tls-san: [a, 'b,c']\n", {"tls-san": ("a", "b", "c")}),
        ("tls-san: 10\n", {"tls-san": ("10",)}),
        ("tls-san:\n", {"tls-san": ()}),
        ("server: https://a,b\n", {"server": ("https://a,b",)}),
        ("cni+: x\n", {"cni+": ("x",)}),
        ("cni: a\ncni: b\n", {"cni": ("b",)}),
    ],
)
def test_values(text: str, values: dict[str, tuple[str, ...]]) -> None:
    assert parse_config(text) == values


PARTS = st.lists(
    st.dictionaries(
        st.sampled_from(["cni", "cni+", "tls-san", "tls-san+"]),
        st.lists(st.sampled_from("abc"), max_size=3).map(tuple),
    ),
    max_size=5,
)


@given(parts=PARTS)
def test_the_last_plain_key_and_everything_appended_after_it_counts(
    parts: list[dict[str, tuple[str, ...]]],
) -> None:
    values = merged(parts)
    pairs = [pair for part in parts for pair in part.items() if pair[0].startswith("cni")]
    plain = [number for number, (key, _) in enumerate(pairs) if key == "cni"]
    counting = pairs[plain[-1] :] if plain else pairs
    assert values.get("cni", ()) == tuple(each for _, value in counting for each in value)
