"""A place: an arm at a step of the sweep, without its repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchspec.observations.model import Step

COORDINATES = ("concurrency", "rate", "context_tokens", "cache", "material")


@dataclass(frozen=True)
class Place:
    """An arm at a step of the sweep."""

    arm: str
    concurrency: int | None = None
    rate: float | None = None
    context_tokens: int | None = None
    cache: str | None = None
    material: str | None = None

    @classmethod
    def of(cls, step: Step) -> Place:
        """Where a step stands."""
        return cls(step.arm, **{name: getattr(step, name) for name in COORDINATES})

    @property
    def at(self) -> dict[str, Any]:
        """The coordinates that are set, without the arm."""
        pairs = {name: getattr(self, name) for name in COORDINATES}
        return {name: value for name, value in pairs.items() if value is not None}

    def __str__(self) -> str:
        words = {"concurrency": "C"}
        parts = [f"{words.get(name, name)}={value}" for name, value in self.at.items()]
        return ", ".join([f"arm {self.arm}", *parts])
