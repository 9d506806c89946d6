"""`rke2 secrets-encrypt status`, from the node's own configuration and the nodes' annotations."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any, Final

from . import client
from .paths import CREDENTIALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .api import Api, Json

PATH: Final = "/v1-rke2/encrypt/status"
ANNOTATION: Final = "rke2.io/encryption-config-hash"
_CONFIGURATION: Final = "encryption-config.json"
_SERVERS: Final = "/api/v1/nodes?labelSelector=node-role.kubernetes.io%2Fcontrol-plane%3Dtrue"
_TYPES: Final = {"aescbc": "AES-CBC", "secretbox": "XSalsa20-POLY1305"}


def annotation() -> str:
    """What this node says of its configuration: `start-<SHA-256>`."""
    return f"start-{hashlib.sha256((CREDENTIALS / _CONFIGURATION).read_bytes()).hexdigest()}"


def status(api: Api, node: str) -> Json:
    """What the real server answers, in the shape of `-o json`.

    Raises:
        RuntimeError: this node is not registered.
        ApiError, OSError, http.client.HTTPException: the API did not answer.
    """
    path = CREDENTIALS / _CONFIGURATION
    if not path.exists():
        return {"stage": "", "activekey": ""}
    providers = json.loads(path.read_text())["resources"][0]["providers"]
    keys = [
        f"{_TYPES[kind]} {key['name']}"
        for provider in providers
        for kind, settings in provider.items()
        if kind in _TYPES
        for key in settings["keys"]
    ]
    hashes = {
        item["metadata"]["name"]: item["metadata"].get("annotations", {}).get(ANNOTATION)
        for item in api.request("GET", _SERVERS)["items"]
    }
    own = hashes.get(node)
    if own is None:
        raise RuntimeError(f'nodes "{node}" not found')
    answer: Json = {"stage": own.rpartition("-")[0], "activekey": keys[0] if keys else ""}
    if "identity" not in providers[0]:
        answer["enable"] = True
    # As the real server does: one without the annotation is left out.
    other = next((name for name, value in hashes.items() if value and value != own), None)
    if other is None:
        answer["hashmatch"] = True
    else:
        answer["hasherror"] = f"hash does not match between {node} and {other}"
    if keys[1:]:
        answer["inactivekeys"] = keys[1:]
    return answer


def command(arguments: Sequence[str]) -> int:
    """`rke2 secrets-encrypt status [-o json]`; its exit status."""
    if not arguments or arguments[0] != "status":
        sys.stderr.write(f"No help topic for '{arguments[0] if arguments else ''}'\n")
        return 3
    try:
        answer = client.ask("GET", PATH)
    except client.FatalError as reason:
        return client.fail(reason)
    # Any other format gives the text, as with the real tool.
    as_json = list(arguments[1:]) in (["-o", "json"], ["-o=json"])
    sys.stdout.write(json.dumps(answer, indent="\t") + "\n" if as_json else text(answer))
    return 0


def text(answer: Any) -> str:
    """The answer as the real tool prints it without `-o json`."""
    if not answer["activekey"]:
        return "Encryption Status: Disabled, no configuration file found\n"
    hashes = "All hashes match" if answer.get("hashmatch") else answer["hasherror"]
    rows = [(" *", answer["activekey"])]
    rows += [("", key) for key in answer.get("inactivekeys", [])]
    keys = "".join(
        f"{mark:<8}{kind:<10}{name}\n" for mark, key in rows for kind, name in [key.split(" ", 1)]
    )
    return (
        f"Encryption Status: {'Enabled' if answer.get('enable') else 'Disabled'}\n"
        f"Current Rotation Stage: {answer['stage']}\n"
        f"Server Encryption Hashes: {hashes}\n\n"
        "Active  Key Type  Name\n"
        "------  --------  ----\n"
        f"{keys}\n"
    )
