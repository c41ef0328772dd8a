"""Reading a spec that is to be run: refused with findings, as `benchspec lint` prints them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchspec.cli.console import emit_json, err, fail, paint
from benchspec.run.prepare import Prepared, SpecRefused, parse_overrides, prepare
from benchspec.spec.loader import read


def prepared_or_exit(path: Path, overrides: Sequence[str], *, as_json: bool) -> Prepared:
    """The spec at `path`, linted and planned; prints the findings and exits 1 where it is refused.

    Raises UsageError for a file that is no spec, or an override that is none.
    """
    reasons = parse_overrides(overrides)
    try:
        return prepare(read(path), path.parent, reasons)
    except SpecRefused as refused:
        _print(refused, as_json=as_json)
        sys.exit(fail(refused))


def _print(refused: SpecRefused, *, as_json: bool) -> None:
    from benchspec.lint.output import json, text

    if as_json:
        emit_json({"exit": refused.exit_code, "refused": json.as_data([refused.result])})
    err(text.render(refused.result, lambda words, style: paint(words, style, sys.stderr)) + "\n")
