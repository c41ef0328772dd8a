"""`benchspec lint`: what is wrong with a spec before anything is measured."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from benchspec.cli.console import emit_json, err, examples, fail, out, paint, then
from benchspec.errors import (
    EXIT_DONE,
    EXIT_NEGATIVE,
    EXIT_USAGE,
    SpecUnreadable,
    StorageFailure,
    UsageError,
)
from benchspec.lint.linter import LintResult, lint
from benchspec.spec.loader import read
from benchspec.spec.source import MAX_BYTES, Document

_LEVELS = ("error", "warning", "info")


@click.command(
    epilog=examples(
        "benchspec lint spec.yaml",
        "benchspec lint --diff spec.yaml",
        "benchspec lint --command 'llama-server -m x.gguf -c 8192'",
    )
    + "Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 a file that is not a spec at all."
)
@click.argument("paths", nargs=-1, metavar="PATH|DIR|-...")
@click.option(
    "--command",
    "command_line",
    metavar="TEXT",
    help="Lint a bare command line instead: 'llama-server -m x.gguf -c 8192'.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice(_LEVELS),
    default="error",
    show_default=True,
    help="The least severity that makes the exit code 1.",
)
@click.option("--fix", "write", is_flag=True, help="Write safe fixes into the files.")
@click.option("--diff", is_flag=True, help="Print safe fixes as a diff, and write nothing.")
def command(
    paths: tuple[str, ...],
    command_line: str | None,
    form: str,
    as_json: bool,
    fail_on: str,
    write: bool,
    diff: bool,
) -> None:
    """Refuse a spec that cannot answer its own question.

    A DIR is searched for specs; `-` reads one from standard input. Findings of severity error make
    the exit code 1; warnings and remarks do not, unless --fail-on says so.
    """
    if not paths and command_line is None:
        raise UsageError("nothing to lint", hint="name a spec, a folder, or - for standard input")
    if write and "-" in paths:
        raise UsageError("--fix cannot write to standard input", hint="use --diff")
    results: list[LintResult] = []
    unreadable: list[SpecUnreadable] = []
    for path in paths:
        for document in _documents(path, unreadable):
            results.append(_linted(document, write=write, diff=diff))
    if command_line is not None:
        from benchspec.lint.bare_command import lint_command

        results.append(lint_command(command_line))
    form = "json" if as_json else form
    if not diff and (results or form != "text"):
        _print(results, form)
    for error in unreadable:
        fail(error)
    sys.exit(EXIT_USAGE if unreadable else _exit_code(results, fail_on))


def _linted(document: Document, *, write: bool, diff: bool) -> LintResult:
    """The result: as it is, of the fixed file, or (with a diff of the fixes printed) as it is."""
    if not write and not diff:
        return lint(document, audit=_is_audit(document))
    from benchspec.lint.fixer import fixed

    result = fixed(document, audit=_is_audit(document))
    changed = result.document.raw != document.raw
    if diff:
        if changed:
            _print_diff(document, result.document)
        return lint(document, audit=_is_audit(document))
    if changed:
        _write(Path(document.name).resolve(), result.document.raw)
        err(f"fixed {document.name}")
    return result


def _print_diff(old: Document, new: Document) -> None:
    from difflib import unified_diff

    lines = unified_diff(
        old.text.splitlines(keepends=True),
        new.text.splitlines(keepends=True),
        f"{old.name} (as it is)",
        f"{old.name} (fixed)",
    )
    for line in lines:
        out(line.rstrip("\r\n"))


def _write(path: Path, data: bytes) -> None:
    """Replace the file at once, so that a full disk leaves the old one."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(data)
        part.chmod(path.stat().st_mode & 0o7777)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageFailure(
            f"{path}: {error.strerror or error}", hint="nothing was changed"
        ) from None


def _is_audit(document: Document) -> bool:
    """A spec that brings observations is about numbers that someone else measured."""
    return isinstance(document.data, dict) and "observations" in document.data


def _documents(path: str, unreadable: list[SpecUnreadable]) -> Iterator[Document]:
    sources = _specs_in(Path(path)) if Path(path).is_dir() else [Path(path)]
    for source in sources:
        try:
            yield read(source)
        except SpecUnreadable as error:
            unreadable.append(error)


def _specs_in(folder: Path) -> list[Path]:
    """The YAML files under `folder` that say `benchspec:` at the start of a line; hidden ones not."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".yaml", ".yml") and path.is_file() and _is_spec(path, folder)
    ]
    if not found:
        raise UsageError(
            f"{folder}: no spec in this folder", hint="a spec begins with `benchspec: 1`"
        )
    return found


def _is_spec(path: Path, folder: Path) -> bool:
    if any(part.startswith(".") for part in path.relative_to(folder).parts):
        return False
    try:
        with path.open("rb") as file:
            return b"\nbenchspec:" in b"\n" + file.read(MAX_BYTES)
    except OSError:
        return True  # reading it as a spec says what is wrong


def _print(results: Sequence[LintResult], form: str) -> None:
    if form == "json":
        from benchspec.lint.output import json

        emit_json(json.as_data(results))
        return
    if form == "sarif":
        from benchspec.lint.output import sarif

        emit_json(sarif.as_data(results))
        return
    if form == "github":
        from benchspec.lint.output import github

        out(github.render(results))
        return
    from benchspec.lint.output import text

    for result in results:
        if result.findings:
            out(text.render(result, paint) + "\n")
    out(text.summary(results))
    _next(results)


def _next(results: Sequence[LintResult]) -> None:
    """The command that a person would type now, on stderr."""
    found = [f for r in results for f in r.findings if f.waived is None]
    if found:
        worst = min(found, key=lambda f: _LEVELS.index(f.severity))
        more = _go_on(results, ", or ") if worst.severity != "error" else ""
        then("benchspec", "explain", worst.code, more=more)
    elif _go_on(results):
        err(_go_on(results, "next: "))


def _go_on(results: Sequence[LintResult], before: str = "") -> str:
    """`before` and the command that plans the one spec; empty where there is not one file."""
    if len(results) != 1 or results[0].document.name.startswith("<"):
        return ""
    return before + shlex.join(["benchspec", "plan", results[0].document.name])


def _exit_code(results: Sequence[LintResult], fail_on: str) -> int:
    counted = _LEVELS[: _LEVELS.index(fail_on) + 1]
    found = any(f.severity in counted and f.waived is None for r in results for f in r.findings)
    return EXIT_NEGATIVE if found else EXIT_DONE
