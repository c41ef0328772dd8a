"""`benchspec resume`: finish a run that was stopped."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from benchspec.cli.console import BUNDLE, examples


@click.command(epilog=examples(f"benchspec resume {BUNDLE}"))
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--trust", is_flag=True, help="As for run; remembered from there.")
@click.option(
    "--spec-folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where the spec's relative paths start, if it was moved.",
)
@click.option(
    "--progress",
    "style",
    type=click.Choice(["auto", "plain", "json"]),
    default="auto",
    show_default=True,
    help="As for run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout at the end.")
def command(bundle: Path, trust: bool, spec_folder: Path | None, style: str, as_json: bool) -> None:
    """Keep the finished cells of BUNDLE, run the others, judge and report.

    Refuses if the spec, the engine's build, the model or the machine is not the same any more.
    """
    from benchspec.cli.run import conclude
    from benchspec.run import session
    from benchspec.run.progress import progress_for

    progress = progress_for(style, sys.stderr, os.environ.get)  # type: ignore[arg-type]
    try:
        outcome = session.resume(bundle, folder=spec_folder, trusted=trust, progress=progress)
    finally:
        progress.close()
    sys.exit(conclude(outcome, as_json=as_json))
