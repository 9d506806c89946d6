"""Durations as Go programs read and print them."""

from __future__ import annotations

import re

from lab.tools.call import UsageError

_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def given(text: str) -> float:
    """Seconds of `1m30s`.

    Raises:
        UsageError: no such duration, in pflag's words.
    """
    if text == "0":
        return 0.0
    if not text or _PARTS.sub("", text):
        raise UsageError(
            f'invalid argument "{text}" for "--timeout" flag: time: invalid duration "{text}"'
        )
    return sum(float(number) * _SECONDS[unit] for number, unit in _PARTS.findall(text))


def shown(seconds: float) -> str:
    """As Go prints it: `5m0s`, `8s`, `1.5s`."""
    whole, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(whole), 60)
    text = f"{rest:.9f}".rstrip("0").rstrip(".") + "s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text
