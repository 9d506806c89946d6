"""What is built is pinned, and built anew when its recipe changes."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from machines import build, gobuild, image, layer, plan
from machines.gobuild import MODULES, GoModule

if TYPE_CHECKING:
    from pathlib import Path

_BY_NAME = {module.name: module for module in MODULES}


def _go_mod(name: str) -> str:
    return (_BY_NAME[name].folder / "go.mod").read_text()


def test_the_modules_pin_what_rke2_ships() -> None:
    assert "k8s.io/kubernetes v1.36.3" in _go_mod("kubernetes")
    assert f"go.etcd.io/etcd/server/v3 v{plan.ETCD_VERSION}" in _go_mod("etcd")
    assert "sigs.k8s.io/kwok v0.7.0" in _go_mod("kwok")


def test_opentofu_is_built_as_its_release_is() -> None:
    go_mod = _go_mod("tofu")
    assert "github.com/opentofu/opentofu v1.10.6" in go_mod
    # Its own replacement; without it the build ends with "undefined: dynblock.WalkFunctions".
    assert "replace github.com/hashicorp/hcl/v2 v2.20.1 => github.com/opentofu/hcl/v2" in go_mod
    assert "version.dev=no" in _BY_NAME["tofu"].ldflags


def test_every_staging_module_is_replaced_by_its_release() -> None:
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (\S+) (\S+)$", _go_mod("kubernetes"), re.MULTILINE)
    assert len(replaced) == 33
    assert all(old == new and version == "v0.36.3" for old, new, version in replaced)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_every_program_is_a_tool_of_its_module_or_its_own(module: GoModule) -> None:
    go_mod = _go_mod(module.name)
    assert all(
        re.search(rf"^\s*(tool |module )?{package}$", go_mod, re.MULTILINE)
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


def test_another_source_is_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _BY_NAME[gobuild.PROVIDER]
    copy = tmp_path / "machines" / "go" / module.name
    shutil.copytree(module.folder, copy)
    before = module.key()
    monkeypatch.setattr(gobuild.dirs, "CHECKOUT", tmp_path)
    assert module.key() == before
    (copy / "main.go").write_text("package main\n")
    assert module.key() != before


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


@pytest.mark.parametrize("raced", [False, True], ids=["alone", "another one drops them, too"])
def test_what_another_checkout_used_of_late_stays_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raced: bool
) -> None:
    drop = shutil.rmtree

    def dropped(folder: Path) -> None:
        drop(folder)
        if raced:
            raise FileNotFoundError(folder)

    monkeypatch.setattr(build.shutil, "rmtree", dropped)
    monkeypatch.setenv("RKE2_LAB_CACHE", str(tmp_path))
    monkeypatch.setenv("RKE2_LAB_STATE", str(tmp_path / "none"))
    monkeypatch.setattr(build, "require_root", lambda: None)
    monkeypatch.setattr(build, "_require_tools", lambda: None)
    mine = build.Layers(tmp_path / "image-mine", tmp_path / "layer-mine")
    monkeypatch.setattr(image, "build", lambda: mine.image)
    monkeypatch.setattr(layer, "build", lambda: mine.rke2)
    others = [tmp_path / name for name in ("image-theirs", "layer-theirs", "go/theirs-1")]
    old = [tmp_path / name for name in ("image-old", "layer-old", "go/old-1")]
    built = [module.built() for module in MODULES]
    for folder in (mine.image, mine.rke2, *built, *others, *old):
        folder.mkdir(parents=True)
    week = 7 * 24 * 3600
    for folder in (mine.image, mine.rke2, *built, *old):
        os.utime(folder, (0, time.time() - week - 60))
    for folder in others:
        os.utime(folder, (0, time.time() - week + 60))
    assert build.build() == mine
    assert [folder for folder in old if folder.exists()] == []
    assert all(folder.exists() for folder in (mine.image, mine.rke2, *built, *others))
    assert mine.image.stat().st_mtime > time.time() - 60, "used now"
