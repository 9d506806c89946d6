"""Which functions play kubectl's verbs that write, and the flags that each of them knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb.

    Attributes:
        function: `file.function`, of the files `kubectl_*`.
        flags, valued: what it knows beside the flags of every verb.
        inner: it is given what follows `--` as well.
    """

    function: str
    flags: tuple[str, ...] = ()
    valued: tuple[str, ...] = ()
    inner: bool = False


VERBS = {
    "apply": Verb("apply.apply", valued=("-f", "--filename")),
    "cordon": Verb("nodes.cordon"),
    "create": Verb("changes.create", valued=("-f", "--filename")),
    "delete": Verb(
        "delete.delete",
        flags=("--all", "--force", "--now"),
        valued=("-f", "--filename", "--wait", "--grace-period", "--timeout"),
    ),
    "drain": Verb(
        "drain.drain",
        flags=("--ignore-daemonsets", "--delete-emptydir-data", "--force"),
        valued=("--timeout", "--grace-period"),
    ),
    "expose": Verb("pods.expose", valued=("--port",)),
    "label": Verb("nodes.label", flags=("--overwrite",)),
    "logs": Verb("pods.logs", flags=("-p", "--previous"), valued=("--tail",)),
    "run": Verb(
        "pods.run",
        flags=("--command",),
        valued=("--image", "--restart", "--labels", "--overrides"),
        inner=True,
    ),
    "taint": Verb("nodes.taint", flags=("--overwrite",)),
    "uncordon": Verb("nodes.uncordon"),
    "wait": Verb("wait.wait", flags=("--all",), valued=("--for", "--timeout")),
}
READS = ("get", "exec", "describe", "version")
