"""A document as a validated Spec, and everything that is wrong with its form.

Problems are data: one bad key does not hide the others, and a spec whose only defects are
unknown, duplicate or ambiguous keys still has a `spec`, so that the linter's rules can run.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError

from benchspec.errors import SpecUnreadable
from benchspec.spec.arms import ResolvedArm, merge_arms
from benchspec.spec.consistency import inconsistencies
from benchspec.spec.keys import KeyCheck
from benchspec.spec.messages import problem_of
from benchspec.spec.models import Spec
from benchspec.spec.node import Node
from benchspec.spec.problems import FormProblem, Path, dotted, shown
from benchspec.spec.scalars import Int, reading_1_1
from benchspec.spec.source import MAX_BYTES, Document, parse

if TYPE_CHECKING:
    from pathlib import Path as FilePath

__all__ = ["FormProblem", "Loaded", "load", "read"]

_HARMLESS = frozenset({"unknown-key", "duplicate-key", "ambiguous-scalar"})
MAX_PROBLEMS = 200

STDIN = "<stdin>"
"""The name that messages give to a document from standard input."""


@dataclass(frozen=True)
class Loaded:
    """`spec` is None when the problems leave nothing that rules could judge."""

    document: Document
    spec: Spec | None
    problems: list[FormProblem]


def read(path: FilePath) -> Document:
    """Read and parse the file at `path`, or standard input where that is `-`.

    Raises SpecUnreadable when it cannot be opened, is no regular file, or cannot be parsed.
    """
    if str(path) == "-":
        return parse(sys.stdin.buffer.read(MAX_BYTES + 1), STDIN)
    try:
        if path.exists() and not path.is_file():
            raise SpecUnreadable(f"{path}: not a file", hint="name the spec.yaml itself")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        hint = "check the name; `benchspec new` writes a first spec"
        raise SpecUnreadable(f"{path}: {error.strerror or error}", hint=hint) from None
    return parse(data, str(path))


def load(document: Document, flags: Collection[str] = ()) -> Loaded:
    """Validate `document`; `flags` are names of engine flags, for advice on misplaced keys."""
    problems = list(document.problems)
    spec = _validated(document, flags, problems)
    problems = [_placed(problem, document) for problem in problems]
    problems.sort(key=lambda problem: problem.span or document.span(problem.path))
    if len(problems) > MAX_PROBLEMS:
        rest = len(problems) - MAX_PROBLEMS
        message = f"{rest} more problems of form are not listed"
        last = FormProblem("wrong-value", (), message, "correct these first")
        problems = [*problems[:MAX_PROBLEMS], last]
    harmless = all(problem.kind in _HARMLESS for problem in problems)
    return Loaded(document, spec if harmless else None, problems)


def _placed(problem: FormProblem, document: Document) -> FormProblem:
    """An unknown key is shown at the key; everything else at its value."""
    if problem.kind == "unknown-key" and problem.span is None:
        return problem.at(document.span(problem.path, key=True))
    return problem


def _validated(
    document: Document, flags: Collection[str], problems: list[FormProblem]
) -> Spec | None:
    if not isinstance(document.data, dict):
        problems.append(_no_map(document.data))
        return None
    keys = KeyCheck(flags)
    data = keys.pruned(document.data, Spec)
    problems += keys.problems
    plain = _Plain(document)
    try:
        spec = Spec.model_validate(data)
    except ValidationError as error:
        for part in error.errors(include_url=False):
            problems.append(problem_of(part, (), plain))
        return None
    arms, arm_problems = merge_arms(spec, lambda _kind, flag: flag, plain)
    problems += arm_problems
    problems += inconsistencies(spec)
    problems += _ambiguous(document, spec, arms, plain)
    return spec


def _no_map(data: object) -> FormProblem:
    if data is None:
        fix = "`benchspec new` writes a first spec"
        return FormProblem("missing-key", (), "the file is empty", fix)
    message = "the file is not a map of keys and values"
    return FormProblem("wrong-type", (), message, "begin it with `benchspec: 1`")


class _Plain:
    """Whether the scalar at a path was written without quotes."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def __call__(self, path: Path) -> bool:
        span = self.document.spans.get(path)
        if span is None:
            return False
        start = self.document.lines[span.line - 1][span.column - 1 :]
        return not start.startswith(('"', "'", "|", ">"))


def _ambiguous(
    document: Document, spec: Spec, arms: list[ResolvedArm], plain: _Plain
) -> Iterator[FormProblem]:
    """Numbers that YAML 1.1 reads otherwise, where a number is wanted or a flag is bare.

    Words (`fit: off`) are no problem in a flag: an engine wants the word.
    """
    for path, value in _scalars(document.data, ()):
        raw = value.raw if isinstance(value, Int) else value
        other = reading_1_1(raw) if isinstance(raw, str) else None
        if other in (None, "true", "false"):
            continue
        flag = "flags" in path[:-1]
        wanted = isinstance(value, Int) and isinstance(_model_value(spec, arms, path), int | float)
        if (flag or wanted) and plain(path):
            here = f"the number {value}" if isinstance(value, Int) else "text"
            message = f"{dotted(path)}: `{shown(raw)}` is {here} in YAML 1.2, {other} in YAML 1.1"
            fix = f"write {int(value)}" if wanted else f"write '{shown(raw)}' in quotes"
            yield FormProblem("ambiguous-scalar", path, message, fix)


def _scalars(data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _scalars(value, (*path, key))
    else:
        yield path, data


def _model_value(spec: Spec, arms: list[ResolvedArm], path: Path) -> Any:
    """What the model made of the value at `path`; None where the model has no such place."""
    value: Any = spec
    if path[0] == "arms" and len(path) > 2:
        value = next((arm for arm in arms if arm.path == path[:2]), None)
        path = path[2:]
    for step in path:
        if isinstance(value, Node | ResolvedArm):
            value = getattr(value, str(step), None)
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
