"""The one exception of the lab."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot go on. The text names the machine or step, what was seen and what to do."""
