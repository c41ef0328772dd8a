"""The coordinates that hypotheses look at, and the steps that the load will measure."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchspec.lint.subject import Subject
from benchspec.spec.problems import Path

_SWEPT = ("concurrency", "rate", "context", "cache", "material")


class Coordinate(NamedTuple):
    """One coordinate of `at` or `over`: its name, what is asked for, and where."""

    hypothesis: str
    name: str
    value: float | str
    path: Path

    def beyond(self, steps: Sequence[float | str]) -> bool:
        """True when it lies above the largest of numeric `steps`."""
        numbers = [step for step in steps if not isinstance(step, str)]
        return not isinstance(self.value, str) and bool(numbers) and self.value > max(numbers)


def named(subject: Subject) -> Iterator[Coordinate]:
    """Every coordinate that a hypothesis names, arms and devices not among them."""
    for tested in subject.tests:
        for key, place in (("at", tested.test.at), ("over", tested.test.over)):
            for name in _SWEPT:
                value = getattr(place, name, None)
                if value is not None:
                    path = (*tested.path, "test", key, name)
                    yield Coordinate(tested.id, name, value, path)


def sweep(subject: Subject, name: str) -> list[float | str]:
    """The steps of coordinate `name`, in order; empty where the load does not vary it."""
    load = subject.spec.load
    if name == "concurrency":
        return [*subject.concurrency]
    if name == "rate":
        return sorted(load.rate)
    if name == "context":
        return sorted({*load.context, *_observed(subject, "context_tokens")})
    if name == "cache":
        return [*load.cache, *_observed(subject, "cache")]
    seen = _observed(subject, "material")
    if seen:
        return seen
    labels = [arm.workload.label for arm in subject.arms]
    return sorted({label.material for label in labels if label and label.material})


def _observed(subject: Subject, name: str) -> list[Any]:
    """The values of a coordinate in someone else's steps, in order."""
    return list(dict.fromkeys(step[name] for step in subject.observed if name in step))
