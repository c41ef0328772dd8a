"""From a journal to verdicts and a report; what `run`, `resume` and `report` end with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchspec.errors import EnvironmentFailure, StorageFailure
from benchspec.judge.judge import judge
from benchspec.judge.result import Unfinished, Verdicts
from benchspec.observations.from_bundle import reduce
from benchspec.observations.model import Observations
from benchspec.report.extras import extras
from benchspec.report.fingerprint import fingerprint
from benchspec.report.html import render_html
from benchspec.report.pdf import AttachedFile, render_pdf
from benchspec.report.view import make_view
from benchspec.run.resolved import affected, engines_data, report_facts
from benchspec.spec.loader import load
from benchspec.spec.models import Spec
from benchspec.spec.source import parse
from benchspec.store import journal, manifest
from benchspec.store.bundle import Bundle, canonical_json
from benchspec.store.files import read_whole, write_whole
from benchspec.store.journal import Line
from benchspec.store.records import RunEnded, RunStarted

SPEC_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True)
class Judged:
    """A bundle's parts, computed anew from spec, journal and samples."""

    spec: Spec
    resolved: dict[str, Any]
    records: Sequence[Line]
    observations: Observations
    verdicts: Verdicts


def judge_bundle(bundle: Bundle) -> Judged:
    """Reduce the journal and judge it; writes nothing.

    Raises StorageFailure when a part is missing or damaged.
    """
    spec = read_spec(bundle)
    resolved = bundle.read_json(bundle.resolved)
    records = journal.read(bundle.journal)
    observations = reduce(records, bundle.read_samples, bundle.read_tracks)
    verdicts = judge_observations(spec, observations, resolved, records)
    return Judged(spec, resolved, records, observations, verdicts)


def judge_observations(
    spec: Spec, observations: Observations, resolved: Mapping[str, Any], records: Sequence[Line]
) -> Verdicts:
    """The verdicts on these observations under the overrides that the journal opened with."""
    started = next((record for record in records if isinstance(record, RunStarted)), None)
    if started is None:
        raise StorageFailure("The journal has no first line: nothing was started.")
    return judge(
        spec,
        observations,
        spec_sha256=started.spec_sha256,
        overrides=started.overrides,
        affected=affected(resolved, started.overrides),
        notes=_notes(records),
    )


def _notes(records: Sequence[Line]) -> list[Unfinished]:
    ended = [record for record in records if isinstance(record, RunEnded)]
    if not ended or ended[-1].state == "complete":
        return []
    reason = f"The run {ended[-1].state}: {ended[-1].reason}"
    return [Unfinished(kind="aborted", text=f"{reason.rstrip('.')}.")]


def read_spec(bundle: Bundle) -> Spec:
    """The bundle's spec. Raises StorageFailure when it is not one."""
    data = read_whole(bundle.spec, SPEC_LIMIT_BYTES)
    spec = load(parse(data, str(bundle.spec))).spec
    if spec is None:
        raise StorageFailure(f"{bundle.spec} is not a valid spec any more.")
    return spec


@dataclass(frozen=True)
class Rendered:
    """The rendered files; `pdf` is None where this machine cannot make one, `warning` says why.

    `extras` are the small ones beside the report, by name."""

    html: bytes
    extras: Mapping[str, bytes]
    pdf: bytes | None
    warning: str | None


def finish(bundle: Bundle) -> tuple[Judged, Rendered]:
    """Write everything that follows from the journal, the manifest last.

    Raises StorageFailure; until the manifest is there, the bundle counts as unfinished.
    """
    judged = judge_bundle(bundle)  # first: evidence that cannot be read leaves all as it was
    (bundle.root / manifest.MANIFEST).unlink(missing_ok=True)
    judged = replace(judged, resolved=_resolve(bundle, judged))
    write_whole(bundle.observations, as_json(judged.observations))
    write_whole(bundle.verdicts, as_json(judged.verdicts))
    evidence = manifest.evidence(bundle.root)
    write_whole(bundle.root / manifest.EVIDENCE, evidence)
    rendered = render(bundle, judged, evidence)
    write_whole(bundle.html, rendered.html)
    for name, data in rendered.extras.items():
        write_whole(bundle.root / name, data)
    if rendered.pdf is None:
        bundle.pdf.unlink(missing_ok=True)
    else:
        write_whole(bundle.pdf, rendered.pdf)
    write_whole(bundle.root / manifest.MANIFEST, manifest.manifest(bundle.root))
    return judged, rendered


def _resolve(bundle: Bundle, judged: Judged) -> dict[str, Any]:
    """Add to resolved.json what is known only now: the engines as found, and the renderer."""
    engines = engines_data(judged.records)
    resolved = {**judged.resolved, "engines": engines, "renderer": fingerprint()}
    bundle.write_json(bundle.resolved, resolved)
    return bundle.read_json(bundle.resolved)  # as anyone will read it: the order of keys counts


def as_json(model: Observations | Verdicts) -> bytes:
    """Canonical JSON of observations or verdicts."""
    return canonical_json(model.model_dump(mode="json"))


def render(
    bundle: Bundle, judged: Judged, evidence: bytes, *, url: str | None = None, pdf: bool = True
) -> Rendered:
    """HTML, PDF and what goes beside them, from the parts and the bytes of EVIDENCE.sha256 alone.

    `url` is where it will be published, if not where the spec says. Without `pdf` none is made: it
    takes four times as long as the rest.
    """
    facts = report_facts(bundle, judged.resolved, evidence)
    if url is not None:
        facts = replace(facts, url=url)
    view = make_view(judged.spec, judged.observations, judged.verdicts, facts)
    html, beside = render_html(view), extras(view)
    if not pdf:
        return Rendered(html, beside, None, None)
    attachments = [
        AttachedFile("spec.yaml", bundle.spec.read_bytes(), "The spec as given"),
        AttachedFile("verdicts.json", as_json(judged.verdicts), "Verdicts and their arithmetic"),
        AttachedFile(manifest.EVIDENCE, evidence, "SHA-256 of everything that is not rendered"),
    ]
    try:
        document = render_pdf(html, attachments, utc=facts.utc)
    except EnvironmentFailure as failure:
        return Rendered(
            html, beside, None, f"No report.pdf: {failure.message} {failure.hint or ''}"
        )
    return Rendered(html, beside, document.data, None)
