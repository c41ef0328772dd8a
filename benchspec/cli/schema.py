"""`benchspec schema`: the JSON Schemas of what benchspec reads and writes."""

from __future__ import annotations

from typing import Any

import click

from benchspec.cli.console import emit_json, examples

_KINDS = ("spec", "observations", "verdicts")


@click.command(epilog=examples("benchspec schema > spec.schema.json"))
@click.option(
    "--of", "kind", type=click.Choice(_KINDS), default="spec", help="Which file it describes."
)
@click.option(
    "--json", "_as_json", is_flag=True, help="Accepted for uniformity: it is JSON anyway."
)
def command(kind: str, _as_json: bool) -> None:
    """Print the JSON Schema (2020-12) of a spec, observations.json or verdicts.json."""
    emit_json(_schema(kind))


def _schema(kind: str) -> dict[str, Any]:
    if kind == "spec":
        from benchspec.spec.schema import json_schema

        return json_schema()
    from benchspec.judge.result import Verdicts
    from benchspec.observations.model import Observations

    model = Observations if kind == "observations" else Verdicts
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return dialect | model.model_json_schema(mode="serialization")
