"""What a check may look at: the spec, the observations, and lookups by place. No I/O.

A place is an arm at a step of the sweep, without its repeat. Checks divide within a repeat: they
get a step and ask the case for its partners of the same repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from benchspec.judge import figures
from benchspec.judge.channels import Channel, channels_of
from benchspec.judge.completions import inferred_slots
from benchspec.judge.conditions import unfit
from benchspec.judge.interval import Figure, Interval
from benchspec.judge.lines import Line, attempt, invalid, lacking, over_repeats
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.setup import Setup, Slots
from benchspec.knowledge import engines
from benchspec.observations.model import ArmObservation, Observations, Step
from benchspec.spec.arms import ResolvedArm, resolve_arms
from benchspec.spec.models import Spec


class Case:
    """One judgement's material."""

    def __init__(self, spec: Spec, observations: Observations) -> None:
        self.spec = spec
        self.observations = observations
        self.arms: Mapping[str, ResolvedArm] = {
            arm.id: arm for arm in resolve_arms(spec, engines.canonical)
        }

    @cached_property
    def _steps(self) -> dict[Place, dict[int, Step]]:
        """Finished steps by place and repeat, in the order of the spec's arms, then of the sweep."""
        found: dict[Place, dict[int, Step]] = {}
        for step in sorted(self.observations.steps, key=self._order):
            if step.state == "done":
                found.setdefault(Place.of(step), {})[step.repeat] = step
        return found

    def _order(self, step: Step) -> tuple[Any, ...]:
        ids = [*self.arms, *self.observations.arms]
        arm = ids.index(step.arm) if step.arm in ids else len(ids)
        sweep = (step.context_tokens or 0, step.cache or "", step.material or "")
        return (arm, step.arm, sweep, step.concurrency or 0, step.rate or 0.0, step.repeat)

    @property
    def arm_ids(self) -> list[str]:
        """The spec's arms, then those that were only observed."""
        seen = [*self.observations.arms, *(s.arm for s in self.observations.steps)]
        return list(dict.fromkeys([*self.arms, *seen]))

    @property
    def places(self) -> list[Place]:
        """Every place with a finished step."""
        return list(self._steps)

    def steps(self, place: Place) -> list[Step]:
        """The finished steps of a place, in repeat order."""
        return list(self._steps.get(place, {}).values())

    def sound(self, place: Place) -> list[Step]:
        """The finished steps of a place whose numbers can be right, in repeat order."""
        return [step for step in self.steps(place) if not self.defect(step)]

    def defect(self, step: Step) -> str | None:
        """Why a step's numbers cannot be right; every request is looked at, so once per step."""
        if id(step) not in self._looked_at:
            self._looked_at[id(step)] = (step, figures.defect(step))
        return self._looked_at[id(step)][1]

    @cached_property
    def _looked_at(self) -> dict[int, tuple[Step, str | None]]:
        """By identity; the step is kept, so that its identity stays its own."""
        return {}

    @cached_property
    def _setups(self) -> dict[str, Setup]:
        links = self.spec.hardware.links
        return {
            arm: Setup(arm, self.arms.get(arm), self.observed(arm), links) for arm in self.arm_ids
        }

    def setup(self, arm: str) -> Setup:
        """How an arm is set up; empty for an arm that nobody described."""
        return self._setups.get(arm) or Setup(arm, None, ArmObservation(), [])

    def observed(self, arm: str) -> ArmObservation:
        """What was seen of an arm as a whole; empty when nothing was."""
        return self.observations.arms.get(arm, ArmObservation())

    def partner(self, step: Step, what: str, **moved: Any) -> Step:
        """The step of the same repeat elsewhere: `partner(step, "T(1)", concurrency=1)`.

        Raises Withheld, naming `what` is missing, or why it cannot be right.
        """
        place = Place(**{**Place.of(step).__dict__, **moved})
        found = self._steps.get(place, {}).get(step.repeat)
        if found is None:
            raise lacking(f"{what} of the same repeat ({place})")
        if why := self.defect(found):
            raise invalid(f"{place}: {why}")
        return found

    def single(self, step: Step) -> Step | None:
        """The sound step of the same arm and repeat with one request in flight, if there is one."""
        return next((s for s in self.siblings(step) if s.concurrency == 1), None)

    @cached_property
    def _channels(self) -> list[Channel]:
        return channels_of(self.observations.series)

    def channels(self, *counters: str) -> list[Channel]:
        """Every channel of `counters`."""
        return [c for c in self._channels if c.counter in counters]

    def siblings(self, step: Step) -> list[Step]:
        """All steps of the same arm and repeat that differ in concurrency only, ascending."""
        return self._families.get((_home(Place.of(step)), step.repeat), [])

    @cached_property
    def _families(self) -> dict[tuple[Place, int], list[Step]]:
        """The sound steps of a closed loop that differ in concurrency only, by arm and repeat."""
        found: dict[tuple[Place, int], list[Step]] = {}
        for place, steps in self._steps.items():
            for repeat, step in steps.items():
                if step.concurrency is not None and not self.defect(step):
                    found.setdefault((_home(place), repeat), []).append(step)
        return {key: sorted(f, key=lambda s: s.concurrency or 0) for key, f in found.items()}

    def of_arm(self, arm: str) -> list[Step]:
        """Every finished step of an arm whose numbers can be right, in the order of the sweep."""
        return self._by_arm.get(arm, [])

    @cached_property
    def _by_arm(self) -> dict[str, list[Step]]:
        found: dict[str, list[Step]] = {}
        for place, steps in self._steps.items():
            sound = [step for step in steps.values() if not self.defect(step)]
            found.setdefault(place.arm, []).extend(sound)
        return found

    def forced(self, step: Step) -> bool | None:
        """Whether all answers were made equally long; None when nobody says."""
        if step.output_forced is not None:
            return step.output_forced
        if step.tokens_per_request is not None:
            return True
        arm = self.arms.get(step.arm)
        return arm.workload.output.forced if arm else None

    def material(self, arm: str | None) -> str | None:
        """What the prompts of an arm are, by its label."""
        resolved = self.arms.get(arm or "")
        label = resolved.workload.label if resolved else None
        return label.material if label else None

    def streams(self, step: Step) -> int:
        """How many answers decode at once in a step: C, or the slots where they are fewer."""
        count, slots = step.concurrency or 1, self.slots(step.arm)
        return min(count, slots.count) if slots else count

    def controls(self, arm: str | None) -> list[str]:
        """The arms that are declared the control for `arm`."""
        return [a.id for a in self.arms.values() if arm in a.control_for]

    def slots(self, arm: str) -> Slots | None:
        """S of an arm: from the live server, as stated, by default, from KV, or inferred."""
        return self._slots_by_arm.get(arm)

    @cached_property
    def _slots_by_arm(self) -> dict[str, Slots | None]:
        return {arm: self._find_slots(arm) for arm in self.arm_ids}

    def stated_slots(self, arm: str) -> Slots | None:
        """S as the live server says it, or as declared; of all replicas together."""
        seen, setup = self.observed(arm), self.setup(arm)
        if seen.slots is not None:
            found = Slots(seen.slots, "measured", seen.slots_source or "the live server")
        else:
            declared = setup.declared_slots()
            if declared is None:
                return None
            found = declared
        if setup.replicas == 1:
            return found
        source = f"{found.source}, x {setup.replicas} replicas"
        return Slots(found.count * setup.replicas, found.provenance, source)

    def kv_slots(self, arm: str) -> Slots | None:
        """How many requests the KV cache of an arm holds, if that is known."""
        return self._rooms.get(arm)

    @cached_property
    def _rooms(self) -> dict[str, Slots | None]:
        return {arm: self._room(arm) for arm in self.arm_ids}

    def _room(self, arm: str) -> Slots | None:
        steps = self.of_arm(arm)
        prompts = [n for s in steps if (n := figures.prompt_tokens(s)) is not None]
        outputs = [n for s in steps if (n := figures.tokens_per_request(s)) is not None]
        prompt, output = max(prompts, default=None), max(outputs, default=None)
        return self.setup(arm).kv_slots(prompt, output)

    def _find_slots(self, arm: str) -> Slots | None:
        """The fewest of what was stated, what the KV cache holds and what a counter showed."""
        known = [self.stated_slots(arm), self.kv_slots(arm), self._counted_slots(arm)]
        found = [slots for slots in known if slots is not None and slots.count > 0]
        fewest = min(found, key=lambda slots: slots.count, default=None)
        return fewest or self._inferred_slots(arm)

    def _counted_slots(self, arm: str) -> Slots | None:
        """From a counter of running requests while others waited."""
        steps = self.of_arm(arm)
        full = [s for s in steps if (s.running_max or 0) >= 1 and s.waiting_max]
        if not full:
            return None
        widest = max(full, key=lambda s: s.running_max or 0)
        source = f"counter of running requests at {Place.of(widest)}, others waiting"
        return Slots(round(widest.running_max or 0), "measured", source)

    def _inferred_slots(self, arm: str) -> Slots | None:
        """From the largest step whose answers came in batches."""
        steps = self.of_arm(arm)
        for step in sorted(steps, key=lambda s: -(s.concurrency or 0)):
            count = inferred_slots(step, self.forced(step))
            if count is not None:
                source = f"completions of {Place.of(step)}, repeat {step.repeat}"
                return Slots(count, "derived", source, inferred_from=step.concurrency)
        return None

    def per_repeat(
        self,
        check: str,
        divide: Callable[[Line, Step], CheckResult],
        *,
        rate: bool = False,
        worst: str | None = None,
        anyway: bool = False,
        also: Mapping[str, str] | None = None,
    ) -> list[CheckResult]:
        """One result per place: `divide` for every repeat, merged.

        A step whose numbers cannot be right gives `invalid`, as does, for a `rate`, one that was
        disturbed; other readings of a disturbed step keep a caveat (`anyway`: no caveat either).
        `also` are further coordinates of the results.
        """

        def one(place: Place, step: Step) -> CheckResult:
            line = Line(check, place.arm, {**place.at, **(also or {})})
            disturbed = None if anyway else unfit(step)

            def result() -> CheckResult:
                if why := self.defect(step):
                    raise invalid(why)
                judged = divide(line, step)
                if disturbed and rate:
                    raise invalid(disturbed)
                return _with_caveat(judged, disturbed)

            return attempt(line, result).model_copy(update={"n": step.repeats or 1})

        return [
            over_repeats([one(place, s) for s in self.steps(place)], rate=rate, worst=worst)
            for place in self.places
        ]


def _home(place: Place) -> Place:
    """A place without its concurrency."""
    return replace(place, concurrency=None)


def need(value: Interval | None, what: str) -> Interval:
    """`value`, or the silence that names it."""
    if value is None:
        raise lacking(what)
    return value


def measured(name: str, value: Figure, unit: str, step: Step) -> Input:
    """An input that was read off a step, with the step as its source."""
    number = Interval.of(value).number
    count = len(figures.succeeded(step))
    of = f"{count} requests of " if count else ""
    source = step.source or f"{of}{Place.of(step)}, repeat {step.repeat}"
    return Input(name=name, value=number, unit=unit, provenance=step.provenance, source=source)


def _with_caveat(result: CheckResult, caveat: str | None) -> CheckResult:
    if caveat is None or result.state != "judged":
        return result
    lowered = "order-of-magnitude" if result.quotable in ("yes", "bound") else result.quotable
    return result.model_copy(update={"caveats": [*result.caveats, caveat], "quotable": lowered})


def sizes_text(sizes: Iterable[int]) -> str:
    """Cluster sizes as printed: `4 + 4`."""
    return " + ".join(str(size) for size in sizes)
