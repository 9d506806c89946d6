"""`rke2 secrets-encrypt status` (captures: k3s-encrypt.out)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lab import journal
from lab.tools.call import UsageError, split

if TYPE_CHECKING:
    from lab.host import Encryption
    from lab.tools.call import Call

_HASH = "rke2.io/encryption-config-hash"


async def status(call: Call, words: list[str]) -> int:
    """`status [-o json]`; everything but JSON prints the text form."""
    options = split(
        words,
        valued=("-o", "--output"),
        name="rke2",
        refuse="Incorrect Usage: flag provided but not defined: {flag}",
    )
    if options.rest != ["status"]:
        raise UsageError(f"No help topic for '{' '.join(options.rest)}'", 3)
    host, world = call.host, call.world
    if "supervisor" not in host.processes:
        return journal.fatal(
            call,
            'failed to get CA certs: Get "https://127.0.0.1:9345/cacerts": dial tcp '
            "127.0.0.1:9345: connect: connection refused",
        )
    if not world.api_ready(host):
        text = "see server log for details: Internal error occurred: secret-encrypt error ID 59737"
        rc = journal.fatal(call, text)
        journal.logrus(
            world, host, "error", "secret-encrypt error ID 59737: runtime core not ready"
        )
        return rc
    known, problem = host.encryption, _disagreement(call)
    if options.get("-o", "--output") == "json":
        call.say(json.dumps(_document(known, problem), indent="\t"))
    else:
        call.write(_text(known, problem))
    return 0


def _disagreement(call: Call) -> str:
    """Only nodes with the annotation are compared: one without it is skipped."""
    hashes: dict[str, str] = {}
    for node in call.world.objects_of(call.host).select("Node"):
        found = node["metadata"].get("annotations", {}).get(_HASH)
        if found:
            hashes[node["metadata"]["name"]] = found
    names = list(hashes)
    for other in names[1:]:
        if hashes[other] != hashes[names[0]]:
            return f"hash does not match between {names[0]} and {other}"
    return ""


def _document(known: Encryption, problem: str) -> dict[str, object]:
    document: dict[str, object] = {"stage": known.stage}
    document["activekey"] = f"{known.kind} {known.key}" if known.enabled else ""
    document["enable"] = known.enabled
    if not problem:
        document["hashmatch"] = True
    else:
        document["hasherror"] = problem
    if not known.enabled:
        document["inactivekeys"] = [f"{known.kind} {known.key}"]
    return document


def _text(known: Encryption, problem: str) -> str:
    mark = " *" if known.enabled else "  "
    return (
        f"Encryption Status: {'Enabled' if known.enabled else 'Disabled'}\n"
        f"Current Rotation Stage: {known.stage}\n"
        f"Server Encryption Hashes: {problem or 'All hashes match'}\n"
        "\n"
        "Active  Key Type  Name\n"
        "------  --------  ----\n"
        f"{mark}      {known.kind}   {known.key}\n"
        "\n"
    )
