"""The one time in a report: the run's start, as it was recorded."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(utc: str) -> datetime | None:
    """An ISO 8601 text as a moment in UTC; None for what is not one."""
    try:
        parsed = datetime.fromisoformat(utc)
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
