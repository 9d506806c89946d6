"""One turn of one contestant in a process of its own, so that its memory is its own.

Prints one JSON object: seconds of each thing it was asked to do, and its memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contestants import CONTESTANTS, BenchError
from bench.stand import Stand

if TYPE_CHECKING:
    from collections.abc import Callable

_MIB = 1024


def main() -> int:
    """Do what the command line says; 1 if the contestant was not answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contestant", choices=CONTESTANTS)
    parser.add_argument("inventory", type=Path)
    parser.add_argument("actions", nargs="+", help="methods of the contestant, in order")
    parser.add_argument("--cold", action="store_true", help="connect to no more than is asked")
    options = parser.parse_args()
    contestant = CONTESTANTS[options.contestant](Stand.at(options.inventory))
    seconds: dict[str, list[float]] = {}
    try:
        if not options.cold:
            contestant.connect()
        for action in options.actions:
            seconds.setdefault(action, []).append(_timed(getattr(contestant, action)))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        contestant.close()
    print(json.dumps({"seconds": seconds, "mib": _memory()}))
    return 0


def _timed(action: Callable[[], None]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _memory() -> float:
    """Peak of this process and of the largest it started, in MiB."""
    peaks = (resource.getrusage(each).ru_maxrss for each in _WHOSE)
    return sum(peaks) / _MIB


_WHOSE = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


if __name__ == "__main__":
    raise SystemExit(main())
