"""What a chart is: a finding, a text alternative, a legend, its data, and how to paint it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from benchspec.observations.model import Step
from benchspec.report.material import Material
from benchspec.report.parts import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
MAX_SERIES = 6


@dataclass(frozen=True)
class Style:
    """How one series is told apart: colour (Okabe-Ito), marker and dashes, never colour alone."""

    colour: str
    marker: str
    dashes: str = "-"


STYLES = (
    Style("#0072b2", "o", "-"),
    Style("#d55e00", "s", "--"),
    Style("#009e73", "^", "-."),
    Style("#cc79a7", "D", ":"),
    Style("#56b4e9", "v", "-"),
    Style("#e69f00", "P", "--"),
)
"""Okabe and Ito, Color Universal Design (2008), the darker ones first."""


@dataclass(frozen=True)
class Key:
    """One entry of a legend; `box` is a filled rectangle, else marker and line."""

    label: str
    style: Style
    box: bool = False


@dataclass(frozen=True)
class Chart:
    """`title` states the finding, `description` tells a reader who cannot see it what is drawn.

    `paint` draws into a figure of `size` (points, width x height) and writes no text that came
    from a spec or a server: names stand in the legend, which is HTML.
    """

    id: str
    title: str
    description: str
    legend: tuple[Key, ...]
    table: Table
    paint: Callable[[Figure], None]
    size: tuple[float, float] = (460.0, 280.0)
    note: str | None = None


def styled(names: Sequence[T]) -> list[tuple[T, Style]]:
    """Names with their styles; beyond MAX_SERIES a chart would not be read, the table has them."""
    return list(zip(names[:MAX_SERIES], STYLES, strict=False))


def thinned(items: Sequence[T], limit: int) -> list[T]:
    """At most `limit` items, evenly spaced by rank, first and last kept."""
    if len(items) <= limit:
        return list(items)
    last = len(items) - 1
    return [items[round(i * last / (limit - 1))] for i in range(limit)]


def load_of(step: Step) -> float | None:
    """Where a step stands on the x axis: concurrency, else rate."""
    return step.concurrency if step.concurrency is not None else step.rate


@dataclass(frozen=True)
class LoadAxis:
    """What the x axis of loads says: requests in flight, or of an open loop requests per second."""

    is_open: bool

    @property
    def label(self) -> str:
        """Beside the axis."""
        return "Requests per second" if self.is_open else "Requests in flight, C"

    @property
    def column(self) -> str:
        """The head of a column of loads."""
        return "Requests/s" if self.is_open else "C"

    def at(self, load: float) -> str:
        """`C=8`, or `8 requests/s`."""
        word = "request/s" if load == 1 else "requests/s"
        return f"{load:g} {word}" if self.is_open else f"C={load:g}"


def loads_of(steps: Sequence[Step]) -> LoadAxis:
    """The axis over which steps are drawn."""
    return LoadAxis(all(step.concurrency is None for step in steps))


def load_word(step: Step) -> str:
    """`C=8`, `rate=2`, with context and cache where the sweep has them."""
    words = [f"C={step.concurrency}" if step.concurrency is not None else f"rate={step.rate:g}"]
    if step.context_tokens is not None:
        words.append(f"context {step.context_tokens}")
    if step.cache is not None:
        words.append(step.cache)
    return " ".join(words)


def usable(material: Material) -> list[Step]:
    """Finished steps that have a place on a load axis, arms in the order of the spec."""
    arms = material.case.arm_ids
    steps = [s for s in material.observations.steps if s.state == "done" and load_of(s) is not None]
    return sorted(steps, key=lambda s: (arms.index(s.arm), s.repeat, load_of(s) or 0))
