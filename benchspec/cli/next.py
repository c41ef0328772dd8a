"""`benchspec next`: the smallest change of a spec that would decide what is open."""

from __future__ import annotations

import pathlib
from typing import Any

import click

from benchspec.cli.console import BUNDLE, emit_json, err, examples, out, paint, then
from benchspec.errors import UsageError
from benchspec.judge.case import Case
from benchspec.judge.changes import Change
from benchspec.judge.next import NextStep, next_steps
from benchspec.lint import edits, fixes
from benchspec.report.text import one_line
from benchspec.spec.loader import read
from benchspec.spec.problems import Path, dotted
from benchspec.spec.source import Document, parse


@click.command(
    epilog=examples("benchspec next spec.yaml", f"benchspec next {BUNDLE} --write next.yaml")
    + "Exit codes: 0 done, 1 the spec's form is broken, 2 usage."
)
@click.argument("source", metavar="FILE|BUNDLE", type=click.Path(path_type=pathlib.Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option(
    "--write",
    "target",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    help="Write the spec with these changes here; comments and layout are kept.",
)
def command(source: pathlib.Path, as_json: bool, target: pathlib.Path | None) -> None:
    """For each open line the change that would decide it, and what either outcome looks like.

    FILE is a spec (with `observations`, or not run yet), BUNDLE the folder of a run.
    """
    document, steps = _judged(source)
    left: list[Change] = []
    if target is not None:
        text, left = _changed(document, [change for step in steps for change in step.changes])
        _write(target, text)
    if as_json:
        emit_json(_data(source, steps, target, left))
        return
    for number, step in enumerate(steps, 1):
        _print(number, step)
    if not steps:
        out("Nothing is open.")
    for change in left:
        err(f"not written, add it yourself: {_text(change)}")
    if target is not None:
        err(f"written: {target}")
        then("benchspec", "lint", target)
    elif any(step.changes for step in steps):
        then("benchspec", "next", source, "--write", "next.yaml")


def _judged(source: pathlib.Path) -> tuple[Document, list[NextStep]]:
    """The spec as given, and the steps; of a bundle those of its own verdicts."""
    if source.is_dir():
        from benchspec.run.finish import judge_bundle
        from benchspec.store.bundle import open_bundle

        bundle = open_bundle(source)
        judged = judge_bundle(bundle)
        case = Case(judged.spec, judged.observations)
        return read(bundle.spec), next_steps(case, judged.verdicts)
    from benchspec.run.audit import Audited, audit

    result = audit(read(source))
    if not isinstance(result, Audited):
        first = result.findings[0]
        raise click.exceptions.Exit(_broken(first.message, source))
    return result.lint.document, next_steps(result.case, result.verdicts)


def _broken(message: str, source: pathlib.Path) -> int:
    err(f"{paint('error', 'error')}: the spec's form is broken: {message}")
    then("benchspec", "lint", source)
    return 1


def _changed(document: Document, changes: list[Change]) -> tuple[str, list[Change]]:
    """The text with every change that has a safe place, without `observations`; and the others."""
    document = _without_observations(document)
    left = []
    for change in dict.fromkeys(changes):
        better = _with(document, change)
        document = better or document
        left += [] if better else [change]
    return document.text, left


def _with(document: Document, change: Change) -> Document | None:
    """The document with one change; None where its layout leaves no safe place for it."""
    if change.kind != "extend":
        fix = (
            fixes.Append(change.path, change.value)
            if change.kind == "append"
            else fixes.Put(change.path, change.key, change.value)
        )
        return _parsed(document, edits.apply(document, fix))
    better: Document | None = document
    for number in change.value.split(", "):
        if better is not None and f"{number}" not in _listed(better, change.path):
            text = edits.apply(better, fixes.Extend(change.path, int(number)))
            *parent, key = change.path
            whole = fixes.Put(tuple(parent), str(key), f"[{number}]")
            better = _parsed(better, text or edits.apply(better, whole))
    return better


def _listed(document: Document, path: Path) -> list[str]:
    """The items of the list at `path`, as text; one item may stand without a list."""
    value: Any = document.data
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [str(item) for item in items]


def _parsed(document: Document, text: str | None) -> Document | None:
    return None if text is None else parse(text.encode(), document.name)


def _without_observations(document: Document) -> Document:
    """A spec that is to be run brings no figures: the lines of that key are left out."""
    place = document.key_spans.get(("observations",))
    if place is None or place.column != 1:
        return document
    later = [span.line for path, span in document.key_spans.items() if len(path) == 1]
    end = min((line for line in later if line > place.line), default=len(document.lines) + 1)
    kept = [*document.lines[: place.line - 1], *document.lines[end - 1 :]]
    return parse("\n".join(kept).encode(), document.name)


def _write(target: pathlib.Path, text: str) -> None:
    if target.exists():
        raise UsageError(f"{target} exists", hint="name another file; nothing is overwritten")
    from benchspec.store.files import write_whole

    write_whole(target, text.encode())


def _data(
    source: pathlib.Path, steps: list[NextStep], target: pathlib.Path | None, left: list[Change]
) -> dict[str, Any]:
    return {
        "format_version": 1,
        "path": str(source),
        "steps": [
            {
                "about": step.about,
                "why": step.why,
                "do": step.do,
                "outcomes": list(step.outcomes),
                "changes": [_change_data(change) for change in step.changes],
            }
            for step in steps
        ],
        "written": str(target) if target else None,
        "not_written": [_change_data(change) for change in left],
    }


def _change_data(change: Change) -> dict[str, str]:
    return {
        "kind": change.kind,
        "path": dotted(change.path),
        "key": change.key,
        "value": change.value,
    }


def _print(number: int, step: NextStep) -> None:
    out(paint(f"{number}. {one_line(step.do)}", "strong"))
    out(f"   open: {one_line(step.why, 400)}")
    for change in step.changes:
        out(f"   spec: {_text(change)}")
    for outcome in step.outcomes:
        out(f"   if {one_line(outcome)}")
    out()


def _text(change: Change) -> str:
    """`engine.flags.parallel: 8`; a list that gets one more; words for a command line."""
    if change.kind == "put":
        return f"{dotted((*change.path, change.key))}: {change.value}"
    where = dotted(change.path)
    if change.kind == "extend":
        return f"{where}: with {change.value}"
    return f"{where}: with `{one_line(change.value)}`"
