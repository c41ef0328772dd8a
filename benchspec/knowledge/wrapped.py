"""Lines of a log as they were printed, without what kept the log (journald, docker, kubectl) added. Pure."""

from __future__ import annotations

import json
import re

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SYSLOG = re.compile(r"[A-Z]\w{2} [ \d]\d \d{2}:\d{2}:\d{2} \S+ [\w.@-]+\[\d+\]: ")
_WRAPPED = re.compile(
    r"\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2}) (?=\S)"  # docker logs -t, kubectl --timestamps
    r"|[\w.-]+ +\| "  # docker compose
)
_TAB = "#011"
"""How syslog writes a tab, so that a line stays one line of printable characters."""


def unwrapped(raw: str) -> str:
    """The line without what the keeper of a log puts before it; any other line as it is."""
    if raw.startswith('{"log":'):
        raw = _docker(raw)
    kept = _SYSLOG.match(raw)
    if kept:
        return raw[kept.end() :].replace(_TAB, "\t")
    wrapped = _WRAPPED.match(raw)
    return raw[wrapped.end() :] if wrapped else raw


def without_colour(text: str) -> str:
    """The text without the escape sequences that colour it."""
    return _COLOUR.sub("", text)


def _docker(raw: str) -> str:
    """The line inside a record of docker's json-file driver."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    line = record.get("log") if isinstance(record, dict) else None
    return line if isinstance(line, str) else raw
