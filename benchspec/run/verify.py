"""Recompute everything in a bundle, and name each file and hypothesis that does not hold.

Three layers: the bytes are those that were recorded; the journal still gives these observations
and these verdicts; and from them comes this report. An older bundle is judged by today's judge, so
what is compared is state, reading, value, inputs and verdicts, never wording.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import ValidationError

from benchspec.errors import BenchspecError, StorageFailure, UsageError
from benchspec.judge.result import Verdicts
from benchspec.observations.model import Observations
from benchspec.report.embedded import DAMAGED, read_result
from benchspec.report.fingerprint import fingerprint
from benchspec.report.html import visible_text
from benchspec.run.differences import (
    Mismatch,
    as_data,
    difference,
    first_line,
    moved_hypotheses,
    verdict_mismatches,
)
from benchspec.run.finish import Judged, Rendered, judge_bundle, judge_observations, render
from benchspec.store import manifest
from benchspec.store.bundle import Bundle
from benchspec.store.files import read_whole

RENDERED_LIMIT_BYTES = 256 << 20


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
    for changed in manifest.compare(bundle.root, recorded):
        yield Mismatch(changed.path, changed.sentence())
    listing = bundle.root / manifest.EVIDENCE
    if listing.is_file() and listing.read_bytes() != manifest.evidence(bundle.root):
        yield Mismatch(manifest.EVIDENCE, "It does not list the files that are here.")


def _observations(bundle: Bundle, judged: Judged) -> Iterator[Mismatch]:
    """Compare with the journal, and say which hypotheses the recorded figures would move."""
    try:
        recorded = Observations.model_validate(bundle.read_json(bundle.observations))
    except (StorageFailure, ValidationError) as error:
        yield Mismatch("observations.json", f"It cannot be read: {first_line(error)}")
        return
    where = difference(as_data(recorded), as_data(judged.observations))
    if where is None:
        return
    verdicts = judge_observations(judged.spec, recorded, judged.resolved, judged.records)
    moved = moved_hypotheses(verdicts, judged.verdicts)
    consequence = (
        f"it moves {', '.join(moved)}" if moved else "no hypothesis rests on what was changed"
    )
    text = f"It is not what the journal gives: {where}; {consequence}."
    yield Mismatch("observations.json", text, tuple(moved))


def _verdicts(bundle: Bundle, judged: Judged) -> Iterator[Mismatch]:
    try:
        recorded = Verdicts.model_validate(bundle.read_json(bundle.verdicts))
    except (StorageFailure, ValidationError) as error:
        yield Mismatch("verdicts.json", f"It cannot be read: {first_line(error)}")
        return
    yield from verdict_mismatches("verdicts.json", recorded, judged.verdicts)


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
    again = _again(bundle, judged, evidence, pdf=True)
    if isinstance(again, Mismatch):
        yield again
        return
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


def _again(bundle: Bundle, judged: Judged, evidence: bytes, *, pdf: bool) -> Rendered | Mismatch:
    """What the bundle renders to; a mismatch where resolved.json, which that reads, is damaged."""
    try:
        return render(bundle, judged, evidence, pdf=pdf)
    except DAMAGED as error:
        lost = f"It cannot be rendered from: {type(error).__name__}: {first_line(error)}"
        return Mismatch("resolved.json", lost)


def _same_content(
    bundle: Bundle, judged: Judged, html: bytes, evidence: bytes
) -> Iterator[Mismatch]:
    try:
        embedded = read_result(html)
    except (BenchspecError, *DAMAGED) as error:
        text = f"It holds no result that can be read: {first_line(error)}"
        yield Mismatch("report.html", text)
        return
    where = difference(as_data(embedded["observations"]), as_data(judged.observations))
    if where is not None and embedded["complete"]:
        yield Mismatch("report.html", f"The data in it are not those of the journal: {where}.")
    yield from verdict_mismatches("report.html", embedded["verdicts"], judged.verdicts)
    same_program = (
        judged.resolved.get("renderer", {}).get("benchspec") == fingerprint()["benchspec"]
    )
    if same_program:
        again = _again(bundle, judged, evidence, pdf=False)
        if isinstance(again, Mismatch):
            yield again
        elif visible_text(again.html) != visible_text(html):
            yield Mismatch("report.html", "Its words are not those that follow from this bundle.")
