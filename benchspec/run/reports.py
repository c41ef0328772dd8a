"""The reports below a folder, for an index over them."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from benchspec.errors import StorageFailure, UsageError
from benchspec.judge.result import Verdicts
from benchspec.report.index import Entry, entry
from benchspec.store.files import read_whole

LIMIT_BYTES = 64 << 20
_DATE = re.compile(rb'<meta name="dcterms.created" content="(\d{4}-\d\d-\d\d)')


def find_reports(folder: Path) -> list[Entry]:
    """An entry per folder with verdicts.json and report.html, in `folder` or one level deeper.

    What cannot be read is passed over: an index is no place to judge a bundle. Raises UsageError
    when there is none at all.
    """
    below = [*folder.glob("*/verdicts.json"), *folder.glob("*/*/verdicts.json")]
    found = [_entry(folder, path.parent) for path in sorted(below)]
    entries = [one for one in found if one is not None]
    if not entries:
        raise UsageError(
            f"{folder} holds no folder with a report in it.",
            hint="Name the folder that `benchspec run --output` wrote to.",
        )
    return entries


def _entry(folder: Path, where: Path) -> Entry | None:
    try:
        verdicts = Verdicts.model_validate_json(read_whole(where / "verdicts.json", LIMIT_BYTES))
        page = read_whole(where / "report.html", LIMIT_BYTES)
    except (StorageFailure, ValidationError):
        return None
    dated = _DATE.search(page)
    date = dated[1].decode() if dated else ""
    return entry(f"{quote(where.relative_to(folder).as_posix())}/report.html", date, verdicts)
