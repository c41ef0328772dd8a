"""`benchspec verify`: recompute everything in a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchspec.cli.console import BUNDLE, emit_json, err, examples, out, paint
from benchspec.errors import EXIT_DONE, EXIT_NEGATIVE

if TYPE_CHECKING:
    from benchspec.run.verify import Verification


@click.command(
    epilog=examples(f"benchspec verify {BUNDLE}", "benchspec verify report.html")
    + "Exit codes: 0 everything holds, 1 something does not, 2 neither a bundle nor a report."
)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(bundle: Path, as_json: bool) -> None:
    """Compare the files of BUNDLE with its manifest, judge its journal again, render it again.

    BUNDLE may be a saved report.html alone: it is judged again from the data in it.
    """
    found = _verify(bundle)
    if as_json:
        emit_json(
            {
                "format_version": 1,
                "bundle": str(bundle),
                "holds": found.holds,
                "mismatches": [
                    {"file": one.file, "text": one.text, "hypotheses": list(one.hypotheses)}
                    for one in found.mismatches
                ],
                "notes": found.notes,
            }
        )
    else:
        for one in found.mismatches:
            out(f"{paint('mismatch', 'error')} {one.file}: {one.text}")
        if found.holds:
            out(f"{paint('holds', 'good')}: {_held(bundle)} of {bundle}")
    for note in found.notes:
        err(f"note: {note}")
    sys.exit(EXIT_DONE if found.holds else EXIT_NEGATIVE)


def _verify(path: Path) -> Verification:
    from benchspec.run.verify import verify
    from benchspec.run.verify_page import verify_page
    from benchspec.store.bundle import open_bundle

    return verify_page(path) if path.is_file() else verify(open_bundle(path))


def _held(path: Path) -> str:
    return "verdicts and cards" if path.is_file() else "files, observations, verdicts and report"
