"""What kwok runs for an exec in a pod that is only an object: the program, on this machine.

Programs that the image would have are the machine's own, and the pod's resolver asks CoreDNS.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn
from urllib.parse import urlsplit

from .api import ApiServer
from .paths import AGENT, CLUSTER_DNS, KUBELET_KUBECONFIG, RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

# Part of an image's name -> what its programs are called through.
_IMAGES: Final[dict[str, tuple[str, ...]]] = {"busybox": ("busybox",), "dnsutils": ()}
_NOT_FOUND: Final = 127
_SCRIPT: Final = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


def command(arguments: Sequence[str]) -> NoReturn:
    """Become the program: NAMESPACE POD CONTAINER COMMAND…; 127 if the image would not have it.

    Raises:
        ApiError, OSError, http.client.HTTPException: the API does not tell the image.
    """
    namespace, pod, container, *argv = arguments
    image = _image(namespace, pod, container)
    through = next((found for part, found in _IMAGES.items() if part in image), None)
    if through is None:
        sys.stderr.write(f'exec: "{argv[0]}": executable file not found in $PATH\n')
        raise SystemExit(_NOT_FOUND)
    prefix = ["unshare", "--mount", "sh", "-c", _SCRIPT, _resolver(namespace)]
    os.execvp("unshare", [*prefix, *through, *argv])  # noqa: S606 kwok waits for this process


def _image(namespace: str, pod: str, container: str) -> str:
    cluster = json.loads(KUBELET_KUBECONFIG.read_text())["clusters"][0]["cluster"]
    host = str(urlsplit(cluster["server"]).hostname)
    api = ApiServer(host, folder=AGENT, client="client-kubelet")
    found = api.request("GET", f"/api/v1/namespaces/{namespace}/pods/{pod}")
    images = {one["name"]: one["image"] for one in found["spec"]["containers"]}
    return str(images[container])


def _resolver(namespace: str) -> str:
    folder = RUN / "resolvers"
    folder.mkdir(exist_ok=True)
    path = folder / namespace
    suffixes = f"{namespace}.svc.cluster.local svc.cluster.local cluster.local"
    path.write_text(
        f"search {suffixes}\nnameserver {CLUSTER_DNS.read_text().strip()}\noptions ndots:5\n"
    )
    return str(path)
