"""LabelSelectors: what the selector of a controller, a budget or a policy means."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.objects import Object


def selects(selector: Object | None, item: Object) -> bool:
    """Whether the selector is for that object; an empty one is for all, none is for nothing."""
    if selector is None:
        return False
    labels = item["metadata"].get("labels") or {}
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(each, labels) for each in selector.get("matchExpressions") or []
    )


def _holds(requirement: Object, labels: dict[str, str]) -> bool:
    operator, value = requirement["operator"], labels.get(requirement["key"])
    if operator in ("In", "NotIn"):
        given: list[str] = requirement.get("values") or []
        return (value in given) is (operator == "In")
    return (value is not None) is bool(operator == "Exists")
