"""`benchspec plan`: what a run would do, before anything is started."""

from __future__ import annotations

from pathlib import Path

import click

from benchspec.cli.console import emit_json, examples, out, then


@click.command(epilog=examples("benchspec plan spec.yaml"))
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--override", "overrides", multiple=True, metavar='CODE="reason"', help="As for run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(spec: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Print the cells of SPEC in order, the engine starts, the time, and what will be executed,
    read and fetched."""
    from benchspec.cli.refusal import prepared_or_exit
    from benchspec.run.plan_text import acts_data, plan_data, plan_text

    prepared = prepared_or_exit(spec, overrides, as_json=as_json)
    if as_json:
        emit_json(
            {
                "format_version": 1,
                "study": prepared.spec.study.title,
                **plan_data(prepared.plan),
                "acts": acts_data(prepared.acts),
            }
        )
        return
    out(plan_text(prepared.spec.study.title, prepared.plan, prepared.acts))
    if str(spec) != "-":
        then("benchspec", "run", spec)
