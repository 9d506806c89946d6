"""asyncssh, imported without its search for optional C libraries.

The search (liboqs, nettle) runs ldconfig, a compiler and a linker, which costs more than everything
else the lab does to start. The lab offers no algorithm that needs them.
"""

from __future__ import annotations

import ctypes.util

_search = ctypes.util.find_library


def _nothing(name: str) -> None:
    del name


ctypes.util.find_library = _nothing
try:
    import asyncssh
finally:
    ctypes.util.find_library = _search

__all__ = ["asyncssh"]
