"""helm v3 on ops01: its version, and the releases it knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lab.tools.call import UsageError, split
from lab.tools.cilium import objects

if TYPE_CHECKING:
    from lab.releases import Release
    from lab.tools.call import Call, Options

# What `helm list` shows unless it is asked for all.
_SHOWN = frozenset({"deployed", "failed"})
_COLUMNS = ("NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION")


async def helm(call: Call) -> int:
    """`helm version --short` and `helm list [-A] [-a] [-n NAMESPACE] [-o json]`."""
    options = split(
        call.arguments,
        flags=("-A", "--all-namespaces", "-a", "--all", "--short"),
        valued=("-n", "--namespace", "-o", "--output"),
        name="helm",
        refuse="Error: unknown flag: {flag}",
        clustered=False,
    )
    if options.rest == ["version"] and "--short" in options:
        call.say(f"{call.world.operations.versions['helm']}+g3d8990f")
        return 0
    if options.rest not in (["list"], ["ls"]):
        said = " ".join(options.rest)
        raise UsageError(f'Error: unknown command "{said}" for "helm"')
    store = await objects(call, "/version")
    if isinstance(store, str):
        call.complain(f"Error: Kubernetes cluster unreachable: {store}")
        return 1
    _list(call, options)
    return 0


def _list(call: Call, options: Options) -> None:
    everywhere = "-A" in options or "--all-namespaces" in options
    namespace = options.get("-n", "--namespace") or "default"
    every = "-a" in options or "--all" in options
    rows = [
        _row(call, release)
        for release in sorted(call.world.operations.releases, key=lambda each: each.name)
        if (everywhere or release.namespace == namespace) and (every or release.status in _SHOWN)
    ]
    form = options.get("-o", "--output") or "table"
    if form == "json":
        call.say(json.dumps(rows, separators=(",", ":")))
    elif form == "table":
        call.say("\t".join(_COLUMNS))
        for row in rows:
            call.say("\t".join(row.values()))
    else:
        raise UsageError('Error: invalid argument for "-o, --output" flag: invalid format type')


def _row(call: Call, release: Release) -> dict[str, str]:
    return {
        "name": release.name,
        "namespace": release.namespace,
        "revision": str(release.revision),
        "updated": f"{call.world.seed.born:%Y-%m-%d %H:%M:%S}.123456789 +0000 UTC",
        "status": release.status,
        "chart": release.chart,
        "app_version": release.app_version,
    }
