"""Parse, lint and plan: everything of a run that touches neither disk nor network nor engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchspec.errors import BenchspecError, UsageError
from benchspec.knowledge import engines as knowledge
from benchspec.lint import rules
from benchspec.lint.linter import LintResult, lint
from benchspec.run import trust
from benchspec.run.plan import Plan, make_plan
from benchspec.run.trust import Act
from benchspec.spec.arms import resolve_arms
from benchspec.spec.digest import sha256_of
from benchspec.spec.models import Spec
from benchspec.spec.source import Document


class SpecRefused(BenchspecError):
    """The linter found errors; `result` holds them."""

    def __init__(self, result: LintResult) -> None:
        count = len(result.errors)
        super().__init__(
            f"{result.document.name} cannot answer its own question: {count} "
            f"error{'' if count == 1 else 's'}. Nothing was started.",
            hint='Repair it, or accept one with a reason: --override CODE="reason".',
        )
        self.result = result


@dataclass(frozen=True)
class Prepared:
    """A spec that may be run. `folder` is where its relative paths start."""

    document: Document
    spec: Spec
    result: LintResult
    overrides: Mapping[str, str]
    plan: Plan
    acts: Sequence[Act]
    folder: Path

    @property
    def spec_sha256(self) -> str:
        return self.plan.spec_sha256


def prepare(document: Document, folder: Path, overrides: Mapping[str, str]) -> Prepared:
    """Lint and plan a document. Codes in `overrides` (with reasons) do not refuse it.

    Raises SpecRefused for errors that are left, UsageError for what cannot be planned.
    """
    result = lint(document)
    left = [finding for finding in result.errors if finding.code not in overrides]
    if left or result.spec is None:
        raise SpecRefused(result)
    found = {finding.code for finding in result.errors}
    arms = resolve_arms(result.spec, knowledge.canonical)
    plan = make_plan(result.spec, arms, spec_sha256=sha256_of(document.raw))
    return Prepared(
        document=document,
        spec=result.spec,
        result=result,
        overrides={code: reason for code, reason in overrides.items() if code in found},
        plan=plan,
        acts=[*trust.acts(plan, folder), *trust.telemetry_acts(result.spec.telemetry.sources)],
        folder=folder,
    )


def parse_overrides(texts: Iterable[str]) -> dict[str, str]:
    """`BS201=reason` or `slots-undeclared=reason` -> {code: reason}.

    Raises UsageError for an unknown rule, a missing reason, or a rule of form (BS0).
    """
    codes = {module.RULE.code: module.RULE.code for module in rules.ALL}
    codes |= {module.RULE.name: module.RULE.code for module in rules.ALL}
    parsed = {}
    for text in texts:
        name, _, reason = text.partition("=")
        code = codes.get(name.strip())
        if code is None:
            raise UsageError(
                f"--override {text}: there is no rule {name.strip()!r}.",
                hint="`benchspec lint SPEC` prints the codes.",
            )
        if not reason.strip():
            raise UsageError(
                f"--override {code}: an override needs a reason, which is printed in the report.",
                hint=f'--override {code}="why this run is still worth reading"',
            )
        if code.startswith("BS0"):
            raise UsageError(
                f"--override {code}: a spec whose form is broken cannot be read, so it cannot be "
                "run.",
                hint=f"`benchspec explain {code}` says how to repair it.",
            )
        parsed[code] = reason.strip()
    return parsed
