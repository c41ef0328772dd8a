"""The result inside the page, so that a saved report can be judged again without its bundle."""

from __future__ import annotations

import json
from typing import Any

from benchspec.errors import BenchspecError, UsageError
from benchspec.judge.result import Verdicts
from benchspec.observations.model import Observations
from benchspec.report.facts import BundleFacts

ELEMENT_ID = "benchspec-result"
MAX_SERIES_VALUES = 2000
MAX_TEXT = 2000
_OPEN = f'<script type="application/json" id="{ELEMENT_ID}">'
_CLOSE = "</script>"

DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What `read_result` may raise besides BenchspecError on a page that someone changed."""


def result_json(observations: Observations, verdicts: Verdicts, facts: BundleFacts) -> str:
    """Spec text, observations and verdicts as ASCII JSON that cannot end a script element.

    Requests are stored as columns (one name per field and step, not per request). Counter series
    longer than MAX_SERIES_VALUES are left out, texts cut at MAX_TEXT; `complete` is then false.
    """
    whole = {
        "observations": observations.model_dump(mode="json", exclude_defaults=True),
        "verdicts": verdicts.model_dump(mode="json", exclude_defaults=True),
    }
    kept = _bounded(whole)
    series = kept["observations"].get("series", [])
    short = [s for s in series if len(s.get("values", [])) <= MAX_SERIES_VALUES]
    complete = kept == whole and len(short) == len(series)
    for step in kept["observations"].get("steps", []):
        step["requests"] = _columns(step.get("requests", []))
    result = {
        "format_version": 1,
        "benchspec": facts.benchspec,
        "utc": facts.utc,
        "origin": facts.origin,
        "complete": complete,
        "spec_sha256": facts.spec_sha256,
        "evidence_sha256": facts.evidence_sha256,
        "renderer": dict(facts.renderer),
        "spec": facts.spec_text,
        "observations": {**kept["observations"], "series": short},
        "verdicts": kept["verdicts"],
    }
    return script_safe(result)


def script_safe(data: object) -> str:
    """Compact ASCII JSON for a script element: no `<` can end it, no separator breaks a line."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def read_result(html: bytes) -> dict[str, Any]:
    """The result embedded in a report; `observations` and `verdicts` as their models validate.

    Raises UsageError when the page holds none, BenchspecError when it is not JSON or not this
    version's, and what DAMAGED lists when its parts are not of their form.
    """
    text = html.decode("utf-8", errors="replace")
    _, opened, rest = text.partition(_OPEN)
    body, closed, _ = rest.partition(_CLOSE)
    if not (opened and closed):
        raise UsageError("the page holds no benchspec result", hint="was it saved as a report?")
    try:
        result = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BenchspecError(f"the result in the page is damaged: {error}") from error
    if not isinstance(result, dict) or result.get("format_version") != 1:
        raise BenchspecError("the result in the page is of another format version")
    result["complete"] = result.get("complete") is not False
    for step in result["observations"].get("steps", []):
        step["requests"] = _rows(step.get("requests", {}))
    result["observations"] = Observations.model_validate(result["observations"])
    result["verdicts"] = Verdicts.model_validate(result["verdicts"])
    return result


def _bounded(value: Any) -> Any:
    """Nested data with every text cut at MAX_TEXT characters."""
    if isinstance(value, dict):
        return {key[:MAX_TEXT]: _bounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bounded(inner) for inner in value]
    return value[:MAX_TEXT] if isinstance(value, str) else value


def _columns(requests: list[dict[str, Any]]) -> dict[str, list[Any]]:
    # `ok` is always a column, so that requests of which nothing else is known are still counted.
    rows = [{"ok": True, **request} for request in requests]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    return [{k: v for k, v in zip(columns, row, strict=True) if v is not None} for row in rows]
