"""The Secret with the Ceph user's key, which the operator of F2 makes."""

from __future__ import annotations

import json
from typing import Final

from machines import cluster

NAME: Final = "csi-rbd-secret"
NAMESPACE: Final = "kube-system"
KEY: Final = "planted-key-of-the-ceph-user"
"""Of no Ceph user; looked for in reports."""


def make() -> None:
    """Make it anew, by the first control plane's API server.

    Raises:
        LabError: the API refuses it.
    """
    place = f"--namespace={NAMESPACE}"
    cluster.kubectl("delete", "secret", NAME, place, "--ignore-not-found")
    made = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "stringData": {"userID": "kubernetes", "userKey": KEY},
    }
    cluster.kubectl("create", "--filename=-", stdin=json.dumps(made))
