"""Someone else's figures, judged: the same rules, the same judge, the same report as for a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchspec import __version__
from benchspec.judge.case import Case
from benchspec.judge.judge import judge
from benchspec.judge.order import in_order
from benchspec.judge.result import OrderStep, Verdicts
from benchspec.lint.linter import LintResult, lint
from benchspec.observations.from_spec import observations_of
from benchspec.observations.model import Observations
from benchspec.report.facts import AcceptedFinding, BundleFacts
from benchspec.spec.digest import sha256_of
from benchspec.spec.models import Spec
from benchspec.spec.source import Document
from benchspec.store.bundle import canonical_json
from benchspec.store.files import storage, write_whole


@dataclass(frozen=True)
class Audited:
    """A spec with `observations`, linted and judged."""

    lint: LintResult
    spec: Spec
    observations: Observations
    verdicts: Verdicts
    order: list[OrderStep]

    @cached_property
    def case(self) -> Case:
        """The judge's view of it."""
        return Case(self.spec, self.observations)


def audit(document: Document) -> Audited | LintResult:
    """Lint and judge `document`; the LintResult alone when its form leaves nothing to judge.

    Errors of rules do not stop it, as they stop a run: the figures are there already, and the judge
    says itself what they cannot answer.
    """
    result = lint(document, audit=True)
    if result.spec is None:
        return result
    observations = observations_of(result.spec)
    verdicts = judge(result.spec, observations, spec_sha256=sha256_of(document.raw))
    order = in_order(Case(result.spec, observations), verdicts.checks)
    return Audited(result, result.spec, observations, verdicts, order)


def write_report(audited: Audited, folder: Path, formats: tuple[str, ...], day: str) -> list[Path]:
    """Write spec.yaml, observations.json, verdicts.json and the report into `folder`.

    `day` is the report's date, YYYY-MM-DD: the same day, the same bytes. Returns what was written,
    the report first. Raises StorageFailure, and EnvironmentFailure when a PDF is wanted and this
    machine cannot make one.
    """
    verdicts = canonical_json(audited.verdicts.model_dump(mode="json"))
    parts = {
        "spec.yaml": audited.lint.document.raw,
        "observations.json": canonical_json(audited.observations.model_dump(mode="json")),
        "verdicts.json": verdicts,
    }
    reports = _render(audited, verdicts, formats, f"{day}T00:00:00Z")
    with storage(folder, "created"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, data in {**reports, **parts}.items():
        write_whole(folder / name, data)
    return [folder / name for name in (*reports, *parts)]


def _render(
    audited: Audited, verdicts: bytes, formats: tuple[str, ...], utc: str
) -> dict[str, bytes]:
    from benchspec.report.html import render_html
    from benchspec.report.pdf import AttachedFile, render_pdf
    from benchspec.report.view import make_view

    facts = _facts(audited, utc)
    html = render_html(make_view(audited.spec, audited.observations, audited.verdicts, facts))
    reports = {"report.html": html} if "html" in formats else {}
    if "pdf" in formats:
        attachments = [
            AttachedFile("spec.yaml", audited.lint.document.raw, "The spec with the figures"),
            AttachedFile("verdicts.json", verdicts, "Verdicts and their arithmetic"),
        ]
        reports["report.pdf"] = render_pdf(html, attachments, utc=facts.utc).data
    return reports


def _facts(audited: Audited, utc: str) -> BundleFacts:
    return BundleFacts(
        benchspec=__version__,
        utc=utc,
        origin="audit",
        spec_text=audited.lint.document.raw.decode("utf-8"),
        spec_sha256=audited.verdicts.spec_sha256,
        findings=tuple(
            AcceptedFinding(f.code, f.name, f.severity, f.message, f.waived)
            for f in audited.lint.findings
        ),
    )
