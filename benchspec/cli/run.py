"""`benchspec run`: measure, judge and report."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchspec.cli.console import emit_json, err, examples, fail, out, paint, then

if TYPE_CHECKING:
    from benchspec.judge.result import HypothesisResult
    from benchspec.run.session import Outcome

_WORD_STYLES = {"supported": "good", "refuted": "strong", "invalid": "error"}


@click.command(
    epilog=examples(
        "benchspec run spec.yaml",
        "benchspec run spec.yaml --override BS505='a pilot, repeated later'",
    )
    + "Exit codes: 0 done (a refuted hypothesis is a success), 1 the spec was refused, 2 usage, 3 "
    "environment or engine, 4 the run is invalid, 130 interrupted (benchspec resume goes on)."
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Folder in which the bundle is made.",
)
@click.option("--trust", is_flag=True, help="Accept what the spec executes, reads and fetches.")
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar='CODE="reason"',
    help="Run despite this error; the report says so. Repeatable.",
)
@click.option(
    "--progress",
    "style",
    type=click.Choice(["auto", "plain", "json"]),
    default="auto",
    show_default=True,
    help="Progress on stderr: live on a terminal, lines, or JSON lines.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout at the end.")
def command(
    spec: Path, output: Path, trust: bool, overrides: tuple[str, ...], style: str, as_json: bool
) -> None:
    """Measure what SPEC asks for, judge it, and write a report that others can verify."""
    from benchspec.cli.refusal import prepared_or_exit
    from benchspec.run import session
    from benchspec.run.plan_text import acts_data, plan_data, plan_text
    from benchspec.run.progress import progress_for

    prepared = prepared_or_exit(spec, overrides, as_json=as_json)
    plan, acts = prepared.plan, prepared.acts
    if style == "json":
        err(json.dumps({"event": "plan", **plan_data(plan), "acts": acts_data(acts)}))
    else:
        err(plan_text(prepared.spec.study.title, plan, acts) + "\n")
    progress = progress_for(style, sys.stderr, os.environ.get)  # type: ignore[arg-type]
    try:
        outcome = session.start(prepared, output=output, trusted=trust, progress=progress)
    finally:
        progress.close()
    sys.exit(conclude(outcome, as_json=as_json))


def conclude(outcome: Outcome, *, as_json: bool) -> int:
    """Print how a run ended, its verdicts and the next command; the exit code."""
    if as_json:
        emit_json(_data(outcome))
    else:
        _print_verdicts(outcome)
    if outcome.warning is not None:
        err(f"{paint('warning', 'warning', sys.stderr)}: {outcome.warning}")
    if outcome.failure is not None:
        fail(outcome.failure)
    root = outcome.bundle.root
    if outcome.ended.state == "complete":
        then("benchspec", "verify", root)
    else:
        some = outcome.finished_cells > 0
        kept = "finished cells are kept" if some else "no cell was finished"
        err(f"the run {_WAS[outcome.ended.state]}; {kept} in {root}")
        other = "" if some else " (with a changed spec: benchspec run)"
        then("benchspec", "resume", root, more=other)
    return outcome.exit_code


_WAS = {"interrupted": "was interrupted", "failed": "ended early"}


def _print_verdicts(outcome: Outcome) -> None:
    if outcome.verdicts is None:
        return
    for one in outcome.verdicts.hypotheses:
        word = paint(one.verdict, _WORD_STYLES.get(one.verdict, "warning"))
        mark = "" if one.admissible else f" (not admissible: {', '.join(one.overridden)})"
        out(f"{one.id} {word}{mark}: {one.claim}")
        for line in _grounds(one):
            out(f"   {line}")
    out()
    out(f'{len(outcome.verdicts.unfinished)} lines under "What this didn\'t finish"')
    out(f"report: {outcome.bundle.html}")
    if outcome.bundle.pdf.is_file():
        out(f"        {outcome.bundle.pdf}")


def _grounds(one: HypothesisResult) -> list[str]:
    """What the verdict rests on: its division where there is one; why not, where it is open."""
    settled = one.verdict in ("supported", "refuted")
    lines = [one.arithmetic] if settled and one.arithmetic else [one.reason, one.arithmetic]
    return [line for line in lines if line]


def _data(outcome: Outcome) -> dict[str, object]:
    verdicts = outcome.verdicts
    return {
        "format_version": 1,
        "bundle": str(outcome.bundle.root),
        "state": outcome.ended.state,
        "reason": outcome.ended.reason,
        "exit": outcome.exit_code,
        "hypotheses": [
            one.model_dump(mode="json", exclude_none=True) for one in verdicts.hypotheses
        ]
        if verdicts
        else [],
        "unfinished": len(verdicts.unfinished) if verdicts else None,
    }
