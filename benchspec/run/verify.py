"""Recompute everything in a bundle, and name each file and hypothesis that does not hold.

Three layers: the bytes are those that were recorded; the journal still gives these observations
and these verdicts; and from them comes this report. An older bundle is judged by today's judge, so
what is compared is state, reading, value, inputs and verdicts, never wording.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from benchspec.errors import BenchspecError, StorageFailure, UsageError
from benchspec.judge.result import Verdicts
from benchspec.observations.model import Observations
from benchspec.report.embedded import read_result
from benchspec.report.fingerprint import fingerprint
from benchspec.report.html import visible_text
from benchspec.run.finish import Judged, judge_bundle, judge_observations, render
from benchspec.store import manifest
from benchspec.store.bundle import Bundle
from benchspec.store.files import read_whole

RENDERED_LIMIT_BYTES = 256 << 20

SAME_TO = 1e-9
"""Relative difference below which two floats are one figure: a nanosecond in a second."""


@dataclass(frozen=True)
class Mismatch:
    """One thing that does not hold: where, what, and whose verdict it moves."""

    file: str
    text: str
    hypotheses: tuple[str, ...] = ()


@dataclass
class Verification:
    """What was found. `notes` say what could not be compared on this machine."""

    mismatches: list[Mismatch] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.mismatches

    def add(self, mismatches: Iterable[Mismatch]) -> None:
        self.mismatches.extend(mismatches)


def verify(bundle: Bundle) -> Verification:
    """Every mismatch between a bundle's files and what follows from its journal."""
    found = Verification()
    found.add(_bytes(bundle))
    try:
        judged = judge_bundle(bundle)
    except (StorageFailure, UsageError) as error:
        found.add([Mismatch("journal.jsonl", f"It cannot be judged again: {error.message}")])
        return found
    found.add(_observations(bundle, judged))
    found.add(_verdicts(bundle, judged))
    _rendering(bundle, judged, found)
    return found


def _bytes(bundle: Bundle) -> Iterator[Mismatch]:
    path = bundle.root / manifest.MANIFEST
    if not path.is_file():
        yield Mismatch(manifest.MANIFEST, "It is missing: the run did not finish, or it was taken.")
        return
    recorded = read_whole(path, RENDERED_LIMIT_BYTES)
    for difference in manifest.compare(bundle.root, recorded):
        yield Mismatch(difference.path, difference.sentence())
    listing = bundle.root / manifest.EVIDENCE
    if listing.is_file() and listing.read_bytes() != manifest.evidence(bundle.root):
        yield Mismatch(manifest.EVIDENCE, "It does not list the files that are here.")


def _observations(bundle: Bundle, judged: Judged) -> Iterator[Mismatch]:
    """Compare with the journal, and say which hypotheses the recorded figures would move."""
    try:
        recorded = Observations.model_validate(bundle.read_json(bundle.observations))
    except (StorageFailure, ValidationError) as error:
        yield Mismatch("observations.json", f"It cannot be read: {_first_line(error)}")
        return
    where = _difference(_data(recorded), _data(judged.observations))
    if where is None:
        return
    verdicts = judge_observations(judged.spec, recorded, judged.resolved, judged.records)
    moved = _moved(verdicts, judged.verdicts)
    consequence = (
        f"it moves {', '.join(moved)}" if moved else "no hypothesis rests on what was changed"
    )
    text = f"It is not what the journal gives: {where}; {consequence}."
    yield Mismatch("observations.json", text, tuple(moved))


def _moved(edited: Verdicts, true: Verdicts) -> list[str]:
    """Ids of hypotheses whose verdict, value or readings, or a check behind them, differ."""
    checks, hypotheses = _by_key(edited), _by_id(edited)
    changed = {
        name
        for name, check in _by_key(true).items()
        if _difference(_judged(checks.get(name, {})), _judged(check))
    }
    return [
        name
        for name, hypothesis in _by_id(true).items()
        if _difference(_decided(hypotheses.get(name, {})), _decided(hypothesis))
        or changed.intersection(hypothesis["checks"])
    ]


def _verdicts(bundle: Bundle, judged: Judged) -> Iterator[Mismatch]:
    try:
        recorded = Verdicts.model_validate(bundle.read_json(bundle.verdicts))
    except (StorageFailure, ValidationError) as error:
        yield Mismatch("verdicts.json", f"It cannot be read: {_first_line(error)}")
        return
    yield from _verdict_mismatches("verdicts.json", recorded, judged.verdicts)


def _verdict_mismatches(file: str, recorded: Verdicts, true: Verdicts) -> Iterator[Mismatch]:
    if recorded.spec_sha256 != true.spec_sha256:
        yield Mismatch(file, "It names another spec than the journal does.")
    same_judge = recorded.benchspec == true.benchspec
    for name, one, other in _pairs(_by_id(recorded), _by_id(true), all_of_both=same_judge):
        where = _difference(_decided(one), _decided(other))
        if where is not None:
            yield Mismatch(file, f"Hypothesis {name} is not what is judged: {where}.", (name,))
    for name, one, other in _pairs(_by_key(recorded), _by_key(true), all_of_both=same_judge):
        where = _difference(_judged(one), _judged(other))
        if where is not None:
            yield Mismatch(file, f"Check {name} is not what is judged: {where}.")


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


def _rendering(bundle: Bundle, judged: Judged, found: Verification) -> None:
    try:
        html = read_whole(bundle.html, RENDERED_LIMIT_BYTES)
        evidence = read_whole(bundle.root / manifest.EVIDENCE, RENDERED_LIMIT_BYTES)
    except StorageFailure as failure:
        found.add([Mismatch("report.html", f"It cannot be compared: {failure.message}")])
        return
    recorded = judged.resolved.get("renderer")
    if recorded == fingerprint():
        found.add(_same_bytes(bundle, judged, html, evidence))
        return
    found.notes.append(
        "The report was rendered with other versions or fonts than this machine has: its data and "
        "its words were compared, not its bytes; the other rendered files were compared with the "
        "manifest only."
    )
    found.add(_same_content(bundle, judged, html, evidence))


def _same_bytes(bundle: Bundle, judged: Judged, html: bytes, evidence: bytes) -> Iterator[Mismatch]:
    again = render(bundle, judged, evidence)
    if again.html != html:
        yield Mismatch("report.html", "It is not what is rendered from this bundle.")
    pdf = read_whole(bundle.pdf, RENDERED_LIMIT_BYTES) if bundle.pdf.is_file() else None
    if again.pdf != pdf:
        yield Mismatch("report.pdf", "It is not what is rendered from this bundle.")
    for name, data in again.extras.items():
        # A bundle of an older version has none of these, and its manifest then lists none.
        path = bundle.root / name
        if path.is_file() and read_whole(path, RENDERED_LIMIT_BYTES) != data:
            yield Mismatch(name, "It is not what is rendered from this bundle.")


def _same_content(
    bundle: Bundle, judged: Judged, html: bytes, evidence: bytes
) -> Iterator[Mismatch]:
    try:
        embedded = read_result(html)
    except (BenchspecError, ValueError, LookupError, TypeError, AttributeError) as error:
        text = f"It holds no result that can be read: {_first_line(error)}"
        yield Mismatch("report.html", text)
        return
    where = _difference(_data(embedded["observations"]), _data(judged.observations))
    if where is not None:
        yield Mismatch("report.html", f"The data in it are not those of the journal: {where}.")
    yield from _verdict_mismatches("report.html", embedded["verdicts"], judged.verdicts)
    same_program = (
        judged.resolved.get("renderer", {}).get("benchspec") == fingerprint()["benchspec"]
    )
    if same_program:
        again = render(bundle, judged, evidence).html
        if visible_text(again) != visible_text(html):
            yield Mismatch("report.html", "Its words are not those that follow from this bundle.")


def _data(model: Observations) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True)


def _difference(recorded: object, true: object, at: str = "") -> str | None:
    """The first place where two values of JSON differ, as `steps[3].wall_s is 2, should be 1`."""
    if isinstance(recorded, Mapping) and isinstance(true, Mapping):
        for name in dict.fromkeys([*true, *recorded]):
            deeper = f"{at}.{name}" if at else str(name)
            where = _difference(recorded.get(name), true.get(name), deeper)
            if where is not None:
                return where
        return None
    if isinstance(recorded, list) and isinstance(true, list) and len(recorded) == len(true):
        for index, (one, other) in enumerate(zip(recorded, true, strict=True)):
            where = _difference(one, other, f"{at}[{index}]")
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


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
