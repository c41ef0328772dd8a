"""Counters that are read by a call each; a call that fails is a reason, at the start or later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchspec.store.tracks import CounterRecord, Raw
from benchspec.telemetry.base import Clock, Reading

Read = Callable[[], Sequence[Raw]]


class Meters:
    """The counters of one source, numbered in the order in which they were added.

    `failures` are the exceptions by which a call says that it cannot answer, `explain` puts one
    into words, and `final` says that there is no use in asking again.
    """

    def __init__(
        self,
        failures: tuple[type[Exception], ...],
        explain: Callable[[Exception], str],
        final: Callable[[Exception], bool] = lambda _: False,
    ) -> None:
        self.records: list[CounterRecord] = []
        self._failures = failures
        self._explain = explain
        self._final = final
        self._reads: dict[int, tuple[int, Read]] = {}

    def add(self, counters: Sequence[CounterRecord], read: Read) -> bool:
        """Add counters that `read` gives together, in this order; tried once. True if it answers.

        A number that is None at the first try is a counter that this machine does not have.
        """
        if not counters:
            return False
        first = len(self.records)
        try:
            values = read()
        except self._failures as failure:
            self.records += [_without(counter, self._explain(failure)) for counter in counters]
            return False
        self.records += [
            _without(counter, "it is not offered here") if value is None else counter
            for counter, value in zip(counters, values, strict=True)
        ]
        self._reads[first] = (len(counters), read)
        return True

    def sample(self, clock: Clock) -> Iterator[Reading]:
        """One reading of every counter that answered at the start."""
        for first, (count, read) in list(self._reads.items()):
            try:
                values = read()
            except self._failures as failure:
                at_ns, why = clock(), self._explain(failure)
                yield from (Reading(first + i, at_ns, None, why) for i in range(count))
                if self._final(failure):
                    del self._reads[first]
                continue
            at_ns = clock()
            for number, value in enumerate(values, first):
                if self.records[number].not_measured is None:
                    yield Reading(number, at_ns, value)


def _without(counter: CounterRecord, reason: str) -> CounterRecord:
    return counter.model_copy(update={"not_measured": reason})
