"""`benchspec verify`: recompute everything in a bundle."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchspec.cli.console import emit_json, err, out, paint
from benchspec.errors import EXIT_DONE, EXIT_NEGATIVE


@click.command(
    epilog="Exit codes: 0 everything holds, 1 something does not, 2 not a bundle. "
    "Example: benchspec verify runs/20261129T180000Z-four-slots-one-slot"
)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(bundle: Path, as_json: bool) -> None:
    """Compare the files of BUNDLE with its manifest, judge its journal again, render it again."""
    from benchspec.run.verify import verify
    from benchspec.store.bundle import open_bundle

    found = verify(open_bundle(bundle))
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
            out(f"{paint('holds', 'good')}: files, observations, verdicts and report of {bundle}")
    for note in found.notes:
        err(f"note: {note}")
    sys.exit(EXIT_DONE if found.holds else EXIT_NEGATIVE)
