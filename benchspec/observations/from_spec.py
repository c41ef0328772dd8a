"""The spec key `observations` as Observations: what someone else measured. Pure."""

from __future__ import annotations

from typing import Any

from benchspec.observations.model import Observations
from benchspec.spec.models import Spec
from benchspec.spec.node import Node
from benchspec.spec.observed import Observed
from benchspec.spec.quantity import Quantity

_OF_AN_ARM = ("steps", "series")
"""Parts that belong to the only arm where they name none."""


def observations_of(spec: Spec) -> Observations:
    """The figures that `spec` brings, with origin `audit`; empty when it brings none.

    Figures are in the units of their keys; intervals stay intervals. A counter that answered N/A
    has no values and says so.
    """
    data = _plain(spec.observations or Observed())
    only = [arm.id for arm in spec.arms] or ["main"]
    source = data.pop("source", None)
    if len(only) == 1:
        for part in _OF_AN_ARM:
            for item in data.get(part, []):
                item.setdefault("arm", only[0])
    for step in data.get("steps", []):
        step.setdefault("source", source)
    for series in data.get("series", []):
        _say_not_measured(series)
    return Observations.model_validate({"origin": "audit", **data})


def _say_not_measured(series: dict[str, Any]) -> None:
    values = series.get("values", [])
    if values and all(value is None for value in values):
        series["values"] = []
        series.setdefault("not_measured", "the counter answers N/A")


def _plain(value: Any) -> Any:
    """Nodes as maps of what was written, quantities as numbers or bounds."""
    if isinstance(value, Node):
        written = {name: _plain(inner) for name, inner in value.stated().items()}
        return {name: inner for name, inner in written.items() if inner is not None}
    if isinstance(value, Quantity):
        return value.low if value.exact else {"low": value.low, "high": value.high}
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
