"""Declares faults: a function that changes the world, its parameters taken from its signature."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.replies import Cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.host import Host
    from lab.world import World


class FaultError(ValueError):
    """A parameter that does not fit; one sentence."""


def pattern_of(command: str) -> re.Pattern[str]:
    """The commands that match.

    Raises:
        FaultError: not a regular expression.
    """
    try:
        return re.compile(command)
    except re.error as error:
        raise FaultError(f"`command` is not a regular expression: {error}") from None


def cut_of(where: str) -> Cut:
    """Which link is cut.

    Raises:
        FaultError: neither of the two.
    """
    try:
        return Cut[where.upper()]
    except KeyError:
        raise FaultError(f"`where` is bastion or node, not `{where}`") from None


@dataclass(frozen=True, slots=True)
class Fault:
    """One named fault.

    Attributes:
        summary: what is wrong then, one line.
        function: changes the world; its parameters after the world are the fault's.
    """

    name: str
    summary: str
    function: Callable[..., None]

    @property
    def parameters(self) -> str:
        """The parameters as a scenario writes them."""
        names = [
            name if parameter.default is inspect.Parameter.empty else f"{name}={parameter.default}"
            for name, parameter in self._signature().items()
        ]
        return "{" + ", ".join(names) + "}" if names else "no parameters"

    def apply(self, world: World, given: object) -> None:
        """Change the world; `given` is nothing, a mapping, or the first parameter alone.

        Raises:
            FaultError: a parameter is missing, unknown or of the wrong kind.
        """
        wanted = self._signature()
        if given is None:
            arguments: dict[str, Any] = {}
        elif isinstance(given, dict):
            arguments = {str(key): value for key, value in given.items()}
        elif wanted:
            arguments = {next(iter(wanted)): given}
        else:
            raise FaultError(f"`{self.name}` takes no parameters")
        for key in arguments:
            if key not in wanted:
                raise FaultError(f"`{self.name}` has no parameter `{key}`: {self.parameters}")
        for key, parameter in wanted.items():
            if key not in arguments and parameter.default is inspect.Parameter.empty:
                raise FaultError(f"`{self.name}` needs `{key}`: {self.parameters}")
            if key in arguments:
                _check(self.name, key, arguments[key], str(parameter.annotation))
        self.function(world, **arguments)

    def _signature(self) -> dict[str, inspect.Parameter]:
        parameters = inspect.signature(self.function).parameters
        return dict(list(parameters.items())[1:])


FAULTS: dict[str, Fault] = {}

_KINDS = {
    "str": (str, "text"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "list[str]": (list, "a list of names"),
    "list[str] | None": (list, "a list of names"),
    "str | None": (str, "text"),
}


def fault(name: str, summary: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register the decorated function as the fault of that name."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        FAULTS[name] = Fault(name, summary, function)
        return function

    return register


def host_of(world: World, name: str) -> Host:
    """The host of that name.

    Raises:
        FaultError: no such host.
    """
    try:
        return world.hosts[name]
    except KeyError:
        known = ", ".join(list(world.hosts)[:8])
        raise FaultError(f"no host `{name}` in this lab ({known}, …)") from None


def _check(fault_name: str, key: str, value: object, annotation: str) -> None:
    kind, described = _KINDS[annotation]
    wrong_truth = isinstance(value, bool) and annotation != "bool"
    if wrong_truth or not isinstance(value, kind):  # type: ignore[arg-type]
        raise FaultError(f"`{fault_name}`: `{key}` must be {described}, not `{value}`")
