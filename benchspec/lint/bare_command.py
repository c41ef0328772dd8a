"""Lints a command line without a spec: the rules about an engine's settings, and only those."""

from __future__ import annotations

import json

from benchspec.errors import UsageError
from benchspec.knowledge import engines
from benchspec.knowledge.model import ParsedCommand
from benchspec.lint.finding import Finding
from benchspec.lint.linter import LintResult, judged
from benchspec.spec.loader import load
from benchspec.spec.source import parse

NAME = "<command line>"

# What these ask for stands in a study, and a bare line has none.
_OF_A_STUDY = ("BS104", "BS316")

# A spec that raises no finding of its own and may have several requests in flight.
_SPEC = """\
benchspec: 1
study: {{title: a command line, authors: [nobody], license: CC0-1.0, interests: none}}
hypotheses: [{{id: H1, claim: none, exploratory: true}}]
model: {{source: served}}
load: {{mode: burst, concurrency: [1, 65536]}}
repeats: 3
unfinished: [everything else]
engine:
  kind: vllm
  version: {version}
  command: {command}
"""


def lint_command(command: str) -> LintResult:
    """The findings about `command`, at line 1 of a file called NAME; of an engine that has no kind in
    a spec (koboldcpp), too.

    Raises UsageError where no engine is found in it, and SpecUnreadable for control characters.
    """
    kind = _kind(engines.parse_command(None, command))
    known = engines.engine(kind)
    text = _SPEC.format(
        version=json.dumps((known.version if known else None) or "unknown"),
        command=json.dumps(command, ensure_ascii=False),
    )
    document = parse(text.encode(), NAME)
    spec = load(document).spec
    if spec is None or spec.engine is None:
        raise UsageError("the command line is too long to be read", hint="shorten it")
    spec.engine.__dict__["kind"] = kind  # koboldcpp has no kind in a spec, and flags all the same
    line = text.count("\n")
    found = sorted(judged(document, spec), key=lambda f: (f.line, f.column, f.code))
    kept = tuple(_moved(f, command) for f in found if f.line == line and f.code not in _OF_A_STUDY)
    return LintResult(document, spec, kept)


def _kind(parsed: ParsedCommand) -> str:
    if parsed.engine is None:
        hint = "begin it with llama-server, vllm serve, python -m sglang.launch_server, ..."
        raise UsageError("no known engine is started by this command line", hint=hint)
    return parsed.engine


def _moved(finding: Finding, command: str) -> Finding:
    """`finding` on the command line itself; a flag keeps its place, if nothing was escaped."""
    first = command.split("\n", 1)[0]
    shift = len('  command: "')
    column, end = finding.column - shift, finding.end_column - shift
    if column < 1 or json.dumps(command, ensure_ascii=False)[1:-1] != command:
        column, end = 1, len(first) + 1
    return finding._replace(
        line=1,
        column=column,
        end_line=1,
        end_column=end,
        excerpt=first,
        related=(),
        affects=(),
        fix=None,
    )
