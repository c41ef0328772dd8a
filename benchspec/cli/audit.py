"""`benchspec audit`: judge numbers that someone else measured."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchspec.cli.console import emit_json, err, examples, fail, out, paint, then
from benchspec.errors import EXIT_DONE, EXIT_NEGATIVE, EXIT_USAGE, SpecUnreadable
from benchspec.lint.linter import LintResult
from benchspec.report.dates import instant
from benchspec.run.audit import Audited, audit, write_report
from benchspec.spec.loader import STDIN, read


@click.command(
    epilog=examples("benchspec audit theirs.yaml", "benchspec audit --questions theirs.yaml")
    + "Exit codes: 0 judged, whatever the verdicts, 1 the linter found errors (what has a form "
    "is judged all the same), 2 a file that is no spec at all."
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("--questions", is_flag=True, help="What to ask the author, instead of verdicts.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for reports: one folder in it per file.",
)
@click.option(
    "--format",
    "formats",
    default="html,pdf",
    show_default=True,
    help="Which reports --output gets.",
)
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Date of the reports; without it the study's, or today.",
)
def command(
    files: tuple[str, ...],
    as_json: bool,
    questions: bool,
    output: Path | None,
    formats: str,
    date: datetime | None,
) -> None:
    """Judge the figures under `observations` in each FILE as if they had been measured here.

    Every verdict is a division printed with its numbers; what is missing is said by name.
    """
    wanted = _formats(formats)
    results: list[Audited | LintResult] = []
    unreadable = False
    for name in files:
        try:
            results.append(audit(read(Path(name))))
        except SpecUnreadable as error:
            unreadable = fail(error) == EXIT_USAGE
    if as_json:
        emit_json({"format_version": 1, "files": [_data(result, questions) for result in results]})
    else:
        _print(results, questions)
    if output is not None:
        _report(results, output, wanted, date)
    sys.exit(EXIT_USAGE if unreadable else max(map(_exit_code, results), default=EXIT_DONE))


def _formats(text: str) -> tuple[str, ...]:
    wanted = tuple(part.strip() for part in text.split(",") if part.strip())
    if not wanted or not set(wanted) <= {"html", "pdf"}:
        raise click.BadParameter(f"{text!r} is not html, pdf or html,pdf", param_hint="--format")
    return wanted


def _exit_code(result: Audited | LintResult) -> int:
    lint = result.lint if isinstance(result, Audited) else result
    return EXIT_NEGATIVE if lint.errors else EXIT_DONE


def _data(result: Audited | LintResult, questions: bool) -> dict[str, Any]:
    from benchspec.judge.questions import questions_of
    from benchspec.lint.output import json

    if isinstance(result, LintResult):
        return {**json.as_data([result])["files"][0], "verdicts": None, "order": []}
    data = {
        **json.as_data([result.lint])["files"][0],
        "verdicts": result.verdicts.model_dump(mode="json"),
        "order": [step.model_dump(mode="json") for step in result.order],
    }
    if questions:
        data["questions"] = questions_of(result.case, result.verdicts)
    return data


def _print(results: list[Audited | LintResult], questions: bool) -> None:
    from benchspec.cli import audit_text
    from benchspec.lint.output import text

    for number, result in enumerate(results):
        if number:
            out()
        if isinstance(result, LintResult):
            out(text.render(result, paint))
        elif questions:
            for line in audit_text.questions(result, paint):
                out(line)
        else:
            for line in audit_text.render(result, paint):
                out(line)
            if result.lint.findings:
                out("\n" + text.render(result.lint, paint))
    _next(results, questions)


def _next(results: list[Audited | LintResult], questions: bool) -> None:
    """The command that a person would type now, on stderr."""
    for result in results:
        lint = result.lint if isinstance(result, Audited) else result
        name = lint.document.name
        if isinstance(result, LintResult):
            then("benchspec", "explain", lint.findings[0].code)
        elif result.verdicts.unfinished and name != STDIN:
            ask = shlex.join(["benchspec", "audit", "--questions", name])
            then("benchspec", "next", name, more="" if questions else f", or {ask}")
        return


def _report(
    results: list[Audited | LintResult],
    output: Path,
    formats: tuple[str, ...],
    date: datetime | None,
) -> None:
    for result in results:
        if isinstance(result, Audited):
            stem = Path(result.lint.document.name).stem
            for path in write_report(result, output / stem, formats, _day(result, date)):
                if path.suffix in (".html", ".pdf"):
                    err(f"report: {path}")


def _day(audited: Audited, asked: datetime | None) -> str:
    """The report's date: what was asked for, what the study says if that is a date, or today."""
    told = instant(audited.spec.study.date or "")
    return (asked or told or datetime.now(UTC)).strftime("%Y-%m-%d")
