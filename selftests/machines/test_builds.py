"""What is built is pinned, and built anew when its recipe changes."""

from __future__ import annotations

import dataclasses
import re

import pytest

from machines import gobuild, image, layer, plan
from machines.gobuild import MODULES, GoModule

_BY_NAME = {module.name: module for module in MODULES}


def _go_mod(name: str) -> str:
    return (_BY_NAME[name].folder / "go.mod").read_text()


def test_the_modules_pin_what_rke2_ships() -> None:
    assert "k8s.io/kubernetes v1.36.3" in _go_mod("kubernetes")
    assert f"go.etcd.io/etcd/server/v3 v{plan.ETCD_VERSION}" in _go_mod("etcd")
    assert "sigs.k8s.io/kwok v0.7.0" in _go_mod("kwok")


def test_every_staging_module_is_replaced_by_its_release() -> None:
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (\S+) (\S+)$", _go_mod("kubernetes"), re.MULTILINE)
    assert len(replaced) == 33
    assert all(old == new and version == "v0.36.3" for old, new, version in replaced)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_every_program_is_a_tool_of_its_module(module: GoModule) -> None:
    go_mod = _go_mod(module.name)
    assert all(
        re.search(rf"^\s*(tool )?{package}$", go_mod, re.MULTILINE)
        for package in module.programs.values()
    )
    assert (module.folder / "go.sum").exists()


def test_the_version_is_rke2_s() -> None:
    assert "gitVersion=v1.36.3+rke2r1" in _BY_NAME["kubernetes"].ldflags


def test_other_flags_are_another_build() -> None:
    module = MODULES[0]
    other = dataclasses.replace(module, ldflags="-s")
    assert module.key() == dataclasses.replace(module).key()
    assert module.key() != other.key()
    assert module.built() != other.built()


def test_another_recipe_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = image.key()
    monkeypatch.setattr(image, "PACKAGES", (*image.PACKAGES, "tcpdump"))
    assert image.key() != before


def test_another_program_is_another_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    before = layer.key()
    changed = (dataclasses.replace(MODULES[0], ldflags="-s"), *MODULES[1:])
    monkeypatch.setattr(gobuild, "MODULES", changed)
    assert layer.key() != before


def test_every_file_of_the_layer_exists() -> None:
    for name in layer.FILES:
        assert (layer.GUEST / "files" / name).is_file()


def test_the_units_stop_as_rke2_s_do() -> None:
    for name in ("rke2-server.service", "rke2-agent.service"):
        unit = (layer.GUEST / "files" / name).read_text()
        for line in ("Type=notify", "KillMode=process", "Restart=always", "RestartSec=5s"):
            assert f"{line}\n" in unit
