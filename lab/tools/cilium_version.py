"""`cilium version`: of the CLI, of the images it knows, and of what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.tools.call import split
from lab.tools.cilium import objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.tools.call import Call


async def run(call: Call, arguments: Sequence[str]) -> int:
    """`cilium version [--client]`; it asks the Internet for the stable version."""
    options = split(
        arguments, flags=("--client",), name="cilium", refuse="Error: unknown flag: {flag}"
    )
    version = call.world.operations.versions["cilium-cli"]
    call.say(f"cilium-cli: {version} compiled with go1.25.5 on linux/amd64")
    call.say("cilium image (default): v1.18.5")
    call.say("cilium image (stable): unknown")
    if "--client" in options:
        return 0
    store = await objects(call, "/api/v1/namespaces/kube-system/secrets")
    release = next((each for each in call.world.operations.releases if each.name == "cilium"), None)
    if isinstance(store, str) or release is None:
        why = store if isinstance(store, str) else "release: not found"
        call.say(f"cilium image (running): unknown. Unable to obtain cilium version. Reason: {why}")
    else:
        call.say(f"cilium image (running): {release.app_version}")
    return 0
