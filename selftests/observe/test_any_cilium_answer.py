"""Whatever is answered of Cilium's installation, a parser gives a value or `Misread`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.observe.answers import Misread
from fixtures.observe.brought_over import parse_rendered
from fixtures.observe.cilium_endpoints import parse_endpoints, parse_running
from fixtures.observe.cilium_health import parse_health
from fixtures.observe.cilium_lan import parse_knocks
from fixtures.observe.cilium_release import parse_config, parse_releases
from fixtures.observe.cilium_status import parse_status
from fixtures.observe.daemonsets import parse_daemonsets
from fixtures.observe.door import Door
from fixtures.observe.git import parse_changes, parse_flag, parse_head
from fixtures.observe.tools import parse_version
from selftests.gates.installed import (
    COMMIT,
    CONFIG,
    DAEMONSETS,
    ENDPOINTS,
    daemonset,
    installed,
    release,
    status,
    view,
)
from selftests.gates.joined import LIST_PODS
from selftests.gates.world import AT
from selftests.observe.damage import AnyAnswer, quick

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESSES = ("10.72.0.22", "10.72.0.23")
AILING = {"cilium": {"cilium-1": {"Errors": [{}], "Warnings": [{}], "Disabled": False}}}
VERSIONS = {
    "ansible-core": "ansible-playbook [core 2.21.3]\n  config file = None\n",
    "helm": "v3.19.0+g3d8990f\n",
    "kubectl": "Client Version: v1.36.3\nKustomize Version: v5.7.1\n",
    "cilium-cli": "cilium-cli: v0.19.1 compiled with go1.25.5 on linux/amd64\n",
    "hubble-cli": "hubble v0.13.6@HEAD-3e5d4a1 compiled with go1.22.5 on linux/amd64\n",
}


def told(path: str) -> str:
    """What the API of a cluster with Cilium answers."""
    return json.dumps(installed().document(path, AT)[1])


def version(name: str) -> Callable[[str], str]:
    return lambda text: parse_version(text, name)


def knocks(text: str) -> dict[str, Door]:
    return parse_knocks(text, ADDRESSES)


SAMPLES: dict[str, tuple[Callable[[str], object], str]] = {
    "status": (
        parse_status,
        json.dumps(status(errors=AILING, cilium_status={"cilium-1": {"cluster": {}}})),
    ),
    "health": (parse_health, json.dumps(view("rke-cp01"))),
    "releases": (parse_releases, json.dumps([release(), release(name="rke2-coredns")])),
    "configuration": (parse_config, told(CONFIG)),
    "daemonsets": (parse_daemonsets, told(DAEMONSETS)),
    "endpoints": (parse_endpoints, told(ENDPOINTS)),
    "running": (parse_running, told(LIST_PODS)),
    "knocks": (knocks, "10.72.0.22 0\n10.72.0.23 1 bash: connect: Connection refused\n"),
    "head": (parse_head, f"{COMMIT}\n"),
    "changes": (parse_changes, " M group_vars/all.yml\n?? notes\n"),
    "shallow": (parse_flag, "false\n"),
    "rendered": (parse_rendered, "600 ubuntu 1788059400 regular file\n"),
    **{name: (version(name), text) for name, text in VERSIONS.items()},
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_understood(name: str) -> None:
    parse, text = SAMPLES[name]
    assert parse(text) is not None


class TestAnyAnswer(AnyAnswer):
    samples = SAMPLES


@quick
@given(cut=st.integers(0, 2))
def test_a_list_of_knocks_that_lacks_one_is_not_understood(cut: int) -> None:
    """A node nobody knocked at is not one that answered."""
    lines = SAMPLES["knocks"][1].splitlines(keepends=True)
    text = "".join(lines[:cut])
    if cut < len(lines):
        with pytest.raises(Misread):
            knocks(text)
    else:
        assert knocks(text) == dict(zip(ADDRESSES, (Door.OPEN, Door.REFUSED), strict=True))


@quick
@given(names=st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4))
def test_a_name_that_is_there_twice_is_not_understood(names: list[str]) -> None:
    """Of two rows of one name, none is believed."""
    once = len(set(names)) == len(names)
    rows = {
        parse_releases: [release(name=name) for name in names],
        parse_health: view("rke-cp01") | {"nodes": [{"name": name} for name in names]},
        parse_daemonsets: {
            "kind": "DaemonSetList",
            "items": [daemonset(name, "image") for name in names],
        },
    }
    for parse, document in rows.items():
        if once:
            parse(json.dumps(document))
        else:
            with pytest.raises(Misread):
                parse(json.dumps(document))
