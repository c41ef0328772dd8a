"""What every part of the observations is made of: frozen nodes, figures and intervals."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Provenance = Literal["measured", "declared", "datasheet", "derived", "bound"]


class Node(BaseModel):
    """Frozen. Unknown fields are ignored, so that an older judge can read a newer bundle."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


class Bounds(Node):
    """An interval of which only the ends are known."""

    low: float
    high: float


Number = float | Bounds
SettingValue = str | int | float | bool | None
