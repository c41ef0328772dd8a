"""The reports below a folder, for an index over them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from benchspec.errors import StorageFailure, UsageError
from benchspec.judge.result import Verdicts
from benchspec.report.index import Entry, entry
from benchspec.store.files import read_whole

LIMIT_BYTES = 64 << 20


def find_reports(folder: Path) -> list[Entry]:
    """An entry per folder in `folder` that holds verdicts.json and report.html; no deeper.

    What cannot be read is passed over: an index is no place to judge a bundle. Raises UsageError
    when there is none at all.
    """
    found = [_entry(path.parent) for path in sorted(folder.glob("*/verdicts.json"))]
    entries = [one for one in found if one is not None]
    if not entries:
        raise UsageError(
            f"{folder} holds no folder with a report in it.",
            hint="Name the folder that `benchspec run --output` wrote to.",
        )
    return entries


def _entry(folder: Path) -> Entry | None:
    try:
        verdicts = Verdicts.model_validate_json(read_whole(folder / "verdicts.json", LIMIT_BYTES))
    except (StorageFailure, ValidationError):
        return None
    if not (folder / "report.html").is_file():
        return None
    return entry(f"{quote(folder.name)}/report.html", _date(folder), verdicts)


def _date(folder: Path) -> str:
    """The day on which the run began; empty for an audit, which keeps none."""
    try:
        resolved = json.loads(read_whole(folder / "resolved.json", LIMIT_BYTES))
    except (StorageFailure, ValueError):
        return ""
    utc = resolved.get("utc") if isinstance(resolved, dict) else None
    return utc[:10] if isinstance(utc, str) else ""
