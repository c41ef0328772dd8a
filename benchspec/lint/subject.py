"""What a rule sees: the spec, its arms resolved, and the answers that several rules need."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from benchspec.knowledge import engines
from benchspec.knowledge.model import Reading
from benchspec.lint.arm import Arm
from benchspec.lint.comparison import Pair, connected
from benchspec.lint.vocabulary import RATES
from benchspec.spec.arms import ResolvedArm
from benchspec.spec.models import EngineSpec, Hypothesis, Place, Spec, Test
from benchspec.spec.problems import Path
from benchspec.spec.source import Document


class Tested(NamedTuple):
    """A hypothesis with a test; `path` is the hypothesis' own."""

    hypothesis: Hypothesis
    test: Test
    path: Path

    @property
    def id(self) -> str:
        return self.hypothesis.id

    @property
    def uses(self) -> str:
        """The check or, without its percentile, the metric that decides it."""
        return self.test.check or (self.test.metric or "").partition(".")[0]

    @property
    def needs_repeats(self) -> bool:
        """True when its verdict compares figures that vary: a metric, or a check of a rate."""
        return self.test.check is None or self.test.check in RATES

    @property
    def places(self) -> tuple[Place, ...]:
        return (self.test.at, self.test.over) if self.test.over else (self.test.at,)


MAX_PROBLEMS = 300
"""Problems in the flags of all arms together. Each costs a search for what was meant, and nobody
reads more; the arms after them are left out."""


class Subject:
    """A well-formed spec. `arms` has at least one entry; what is absent is None or empty.

    `unread` are arms that were left out because those before them have too many problems.
    """

    def __init__(self, document: Document, spec: Spec, arms: Iterable[ResolvedArm]) -> None:
        self.document = document
        self.spec = spec
        self.arms: list[Arm] = []
        self.unread: list[ResolvedArm] = []
        read: dict[str, Reading] = {}  # arms often differ in their work only
        problems = 0
        for resolved in arms:
            if problems > MAX_PROBLEMS:
                self.unread.append(resolved)
                continue
            key = repr(resolved.engine)
            reading = read.get(key) or read.setdefault(key, _read(resolved.engine))
            self.arms.append(Arm(resolved, document, reading))
            problems += len(reading.problems)

    def stands(self, *path: str | int) -> bool:
        """True when the document has something at `path`."""
        return path in self.document.spans

    @cached_property
    def concurrency(self) -> list[int]:
        """The steps of a closed loop, smallest first; in an audit those that were observed."""
        steps = self.spec.load.concurrency or [
            step["concurrency"]
            for step in self.observed
            if isinstance(step.get("concurrency"), int)
        ]
        return sorted(set(steps))

    @property
    def sweep_place(self) -> Path:
        """The line that says how much is in flight."""
        return ("load", "concurrency") if self.stands("load") else ("observations", "steps")

    @cached_property
    def seen(self) -> dict[str, Any]:
        """`observations` as someone wrote it down; empty before a run."""
        data = self.document.data.get("observations")
        return data if isinstance(data, dict) else {}

    @cached_property
    def observed(self) -> list[dict[str, Any]]:
        """The steps of someone else's numbers; empty before a run."""
        return _maps(self.seen.get("steps"))

    @cached_property
    def series(self) -> list[dict[str, Any]]:
        """The series of counters among someone else's numbers; empty before a run."""
        return _maps(self.seen.get("series"))

    @property
    def repeats(self) -> int:
        """How often each step is measured; in an audit the most that any step says of itself."""
        seen = [step.get(key) for step in self.observed for key in ("repeat", "repeats")]
        return max(self.spec.repeats, *(n for n in seen if isinstance(n, int)), 1)

    @property
    def may_queue(self) -> bool:
        """True when more than one request can be in flight."""
        return bool(self.spec.load.rate) or (bool(self.concurrency) and self.concurrency[-1] > 1)

    @cached_property
    def tests(self) -> list[Tested]:
        """The hypotheses that say how they are decided."""
        return [
            Tested(hypothesis, hypothesis.test, ("hypotheses", index))
            for index, hypothesis in enumerate(self.spec.hypotheses)
            if hypothesis.test
        ]

    def arm(self, arm_id: str) -> Arm | None:
        return next((arm for arm in self.arms if arm.id == arm_id), None)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The comparisons that the spec declares: by `over` in a test, by `control_for` in an arm."""
        found = []
        for tested in self.tests:
            over = tested.test.over
            arm = self.arm(tested.test.at.arm or "")
            base = self.arm(over.arm or "") if over else None
            if arm and base and arm is not base:
                found.append(Pair(arm, base, (*tested.path, "test", "over"), tested.id))
        for control in self.arms:
            for other in control.control_for:
                arm = self.arm(other)
                if arm and arm is not control:
                    found.append(Pair(arm, control, control.part("control_for"), None))
        return found

    @cached_property
    def groups(self) -> list[set[str]]:
        """The arms in groups within which each can be reached by changing one factor at a time."""
        return connected(self.arms)

    @property
    def unbridged(self) -> list[Pair]:
        """The declared comparisons that no chain of single changes joins."""
        return [
            pair
            for pair in self.pairs
            if not any({pair.arm.id, pair.base.id} <= group for group in self.groups)
        ]

    def looked_at(self, tested: Tested) -> list[Arm]:
        """The arms that a test reads: the one it names, or all."""
        named = self.arm(tested.test.at.arm) if tested.test.at.arm else None
        return [named] if named else self.arms

    def affected(self, arms: Iterable[Arm] | None = None) -> tuple[str, ...]:
        """Ids of the hypotheses that look at one of `arms` (None: at anything)."""
        ids = None if arms is None else {arm.id for arm in arms}
        return tuple(
            tested.id
            for tested in self.tests
            if ids is None or any(place.arm is None or place.arm in ids for place in tested.places)
        )


def _read(engine: EngineSpec | None) -> Reading:
    if engine is None:
        return Reading()
    return engines.resolve(engine.kind, flags=engine.flags, command=engine.command, env=engine.env)


def _maps(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def names(arms: Iterable[Arm]) -> tuple[str, ...]:
    """The ids of `arms`, for `Fact.arms`."""
    return tuple(arm.id for arm in arms)


def by_place(arms: Iterable[Arm], place: Callable[[Arm], Path]) -> Iterator[tuple[Path, list[Arm]]]:
    """`arms` grouped by the line that a person would change for them."""
    groups: dict[Path, list[Arm]] = {}
    for arm in arms:
        groups.setdefault(place(arm), []).append(arm)
    yield from groups.items()


def by_setting(
    arms: Iterable[Arm], setting: Callable[[Arm], str]
) -> Iterator[tuple[Path, str, list[Arm]]]:
    """`arms` grouped by the line of the setting that `setting` names; arms without one left out."""
    groups: dict[tuple[Path, str], list[Arm]] = {}
    for arm in arms:
        name = setting(arm)
        if name:
            groups.setdefault((arm.place(name), name), []).append(arm)
    for (path, name), found in groups.items():
        yield path, name, found
