"""Port 6444 of loopback: the server's load balancer, of which only the port is kept here.

Two servers of one node cannot both have it: that is what keeps a reset off a running one.
"""

from __future__ import annotations

import socket
from typing import Final

PORT: Final = 6444


class TakenError(Exception):
    """Another server of this node has the port; the text is the real server's."""


def listen() -> socket.socket:
    """The listening port, open until it is closed or the process ends.

    Raises:
        TakenError: it is taken.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind(("127.0.0.1", PORT))
        opened.listen()
    except OSError:
        opened.close()
        raise TakenError(f"listen tcp 127.0.0.1:{PORT}: bind: address already in use") from None
    return opened
