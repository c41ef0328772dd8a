"""Where two results differ: figures, readings and verdicts, never wording.

An older bundle is judged by today's judge, which may say more and say it otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchspec.judge.result import Verdicts
from benchspec.observations.model import Observations

SAME_TO = 1e-9
"""Relative difference below which two floats are one figure: a nanosecond in a second."""


@dataclass(frozen=True)
class Mismatch:
    """One thing that does not hold: where, what, and whose verdict it moves.

    `about` is the id of the hypothesis or the key of the check, where it is one.
    """

    file: str
    text: str
    hypotheses: tuple[str, ...] = ()
    about: str | None = None


def moved_hypotheses(edited: Verdicts, true: Verdicts) -> list[str]:
    """Ids of hypotheses whose verdict, value or readings, or a check behind them, differ."""
    checks, hypotheses = _by_key(edited), _by_id(edited)
    changed = {
        name
        for name, check in _by_key(true).items()
        if difference(_judged(checks.get(name, {})), _judged(check))
    }
    return [
        name
        for name, hypothesis in _by_id(true).items()
        if difference(_decided(hypotheses.get(name, {})), _decided(hypothesis))
        or changed.intersection(hypothesis["checks"])
    ]


def verdict_mismatches(file: str, recorded: Verdicts, true: Verdicts) -> Iterator[Mismatch]:
    """Where `recorded` says otherwise than the verdicts `true` that were judged now."""
    if recorded.spec_sha256 != true.spec_sha256:
        yield Mismatch(file, "It names another spec than the journal does.")
    same_judge = recorded.benchspec == true.benchspec
    for name, one, other in _pairs(_by_id(recorded), _by_id(true), all_of_both=same_judge):
        where = difference(_decided(one), _decided(other))
        if where is not None:
            text = f"Hypothesis {name} is not what is judged: {where}."
            yield Mismatch(file, text, (name,), about=name)
    for name, one, other in _pairs(_by_key(recorded), _by_key(true), all_of_both=same_judge):
        where = difference(_judged(one), _judged(other))
        if where is not None:
            yield Mismatch(file, f"Check {name} is not what is judged: {where}.", about=name)


def _by_id(verdicts: Verdicts) -> dict[str, dict[str, Any]]:
    return {one.id: one.model_dump(mode="json") for one in verdicts.hypotheses}


def _by_key(verdicts: Verdicts) -> dict[str, dict[str, Any]]:
    """Check results by key; a second one of the same key gets its number."""
    found: dict[str, dict[str, Any]] = {}
    for one in verdicts.checks:
        same = sum(name.partition("#")[0] == one.key for name in found)
        found[f"{one.key}#{same + 1}" if same else one.key] = one.model_dump(mode="json")
    return found


def _pairs(
    recorded: Mapping[str, dict[str, Any]],
    true: Mapping[str, dict[str, Any]],
    *,
    all_of_both: bool,
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name and both sides, an empty map where one has none; what only a newer judge adds is left
    out unless `all_of_both`."""
    for name in dict.fromkeys([*recorded, *(true if all_of_both else ())]):
        yield name, recorded.get(name, {}), true.get(name, {})


def _decided(hypothesis: Mapping[str, Any]) -> dict[str, Any]:
    names = ("verdict", "value", "range", "n", "readings", "admissible", "overridden")
    return {name: hypothesis.get(name) for name in (*names, "withdrawn_by")}


def _judged(check: Mapping[str, Any]) -> dict[str, Any]:
    inputs = [
        {name: one.get(name) for name in ("name", "value", "unit", "provenance", "asked")}
        for one in check.get("inputs", [])
    ]
    names = ("state", "reading", "value", "unit", "range", "n", "quotable")
    return {**{name: check.get(name) for name in names}, "inputs": inputs}


def as_data(model: Observations) -> dict[str, Any]:
    """Observations as JSON without what is at its default: an older bundle lacks newer fields."""
    return model.model_dump(mode="json", exclude_defaults=True)


def difference(recorded: object, true: object, at: str = "") -> str | None:
    """The first place where two values of JSON differ, as `steps[3].wall_s is 2, should be 1`."""
    if isinstance(recorded, Mapping) and isinstance(true, Mapping):
        for name in dict.fromkeys([*true, *recorded]):
            deeper = f"{at}.{name}" if at else str(name)
            where = difference(recorded.get(name), true.get(name), deeper)
            if where is not None:
                return where
        return None
    if isinstance(recorded, list) and isinstance(true, list) and len(recorded) == len(true):
        for index, (one, other) in enumerate(zip(recorded, true, strict=True)):
            where = difference(one, other, f"{at}[{index}]")
            if where is not None:
                return where
        return None
    if _same(recorded, true):
        return None
    return f"{at} is {_shown(recorded)}, should be {_shown(true)}"


def _same(recorded: object, true: object) -> bool:
    """Equal; numbers to SAME_TO, because another machine may add in another order."""
    if isinstance(recorded, float) and isinstance(true, int | float):
        return math.isclose(recorded, true, rel_tol=SAME_TO, abs_tol=SAME_TO)
    return recorded == true


def _shown(value: object) -> str:
    text = "absent" if value is None else ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def first_line(error: Exception) -> str:
    """The error's first line, cut: a validator's message may be as long as the file."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
