"""What a source of telemetry is: it says which counters it has, and reads them when it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from benchspec.store.tracks import CounterRecord, Raw

Clock = Callable[[], int]
"""Nanoseconds of the run's clock: CLOCK_MONOTONIC from the run's origin."""


class Reading(NamedTuple):
    """One number: `counter` is the place in what `open` returned, `at_ns` when it was read (the end
    of what a `window` looks at). A failed reading has no value, and says why in `trouble`."""

    counter: int
    at_ns: int
    value: Raw
    trouble: str | None = None


class Source(Protocol):
    """One place to read counters from. Whatever the machine lacks is a reason, never an exception.

    `open` is called once, in the thread that starts the run; then `sample` again and again in a
    thread of the source's own; `close` once, after that thread has ended.
    """

    @property
    def name(self) -> str:
        """As a spec names it."""
        ...

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        """Every counter that was wanted; those that cannot be read say why in `not_measured`."""
        ...

    def interval_s(self, asked_s: float) -> float:
        """How often to sample where the spec asks for `asked_s`."""
        ...

    def sample(self, clock: Clock) -> Iterable[Reading]:
        """What can be read now, and what has come in since the last time."""
        ...

    def close(self) -> None:
        """Give back what `open` took; also after an `open` that found nothing."""
        ...


@runtime_checkable
class WithChild(Protocol):
    """A source that runs a program of its own beside the measurement."""

    def child_ns(self) -> int:
        """Processor time of that program so far, in ns; never less than before."""
        ...


@dataclass(frozen=True)
class Families:
    """Which counters are wanted, by the beginning of their names; none named = all of them.

    `also` are wanted whatever is named. Without names, only those of a device are judged; what a
    host or an engine shows is then kept as evidence. Names are in lower case, words joined by `_`.
    """

    named: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def want(self, counter: str) -> bool:
        """True when `counter` (pcie_rx) is of a wanted family (pcie), or is a wanted name itself."""
        return not self.named or any(_is_of(counter, name) for name in (*self.named, *self.also))

    def judge(self, counter: str, *, of_device: bool) -> bool:
        """True when the samples of `counter` become a series for the judge."""
        return any(_is_of(counter, name) for name in self.named) if self.named else of_device


def _is_of(counter: str, name: str) -> bool:
    return counter == name or counter.startswith(f"{name}_")


def absent(
    name: str, source: str, reason: str, *, judged: bool = True, device: str | None = None
) -> CounterRecord:
    """The record of a counter that `source` cannot read, and why."""
    return CounterRecord(
        name=name,
        unit="",
        kind="gauge",
        source=source,
        device=device,
        judged=judged,
        not_measured=reason,
    )


def unavailable(
    source: str, offered: Iterable[str], families: Families, reason: str
) -> list[CounterRecord]:
    """What a source that is not there at all cannot read: the families that the spec names and it
    would have had, else the source itself, in one line."""
    own = tuple(offered)
    named = [name for name in families.named if any(map(Families((name,)).want, own))]
    if families.named:
        return [absent(name, source, reason) for name in named]
    return [absent(source, source, reason)]
