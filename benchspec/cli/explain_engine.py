"""What `benchspec explain` says about an engine and its settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchspec.cli.console import emit_json, out, paint
from benchspec.knowledge import engines
from benchspec.knowledge.model import EngineKnowledge, Setting


def explain_engine(kind: str, as_json: bool) -> bool:
    """Print what is known of an engine kind; False where there is no such kind."""
    known = engines.engine(kind)
    if known is None or not known.settings:
        return False
    affects = Counter(name for setting in known.settings.values() for name in setting.affects)
    unknown = [name for name, setting in known.settings.items() if not setting.known]
    if as_json:
        settings = [_data(setting) for setting in known.settings.values()]
        data = {
            "kind": kind,
            "version": known.version,
            "settings": settings,
            "unknown": len(unknown),
        }
        emit_json({"format_version": 1, "engine": data})
        return True
    stated = f"the table describes {known.version}" if known.version else "no version is stated"
    out(f"{paint(kind, 'strong')} (an engine; {stated})\n")
    out(
        f"{len(known.settings)} settings, each with its value grammar. What they can change is known"
    )
    out(f"of {len(known.settings) - len(unknown)}; of {len(unknown)} nobody has worked it out.\n")
    for name, count in affects.most_common():
        out(f"  {count:>4} can change {name}" if name != "none" else f"  {count:>4} change nothing")
    if known.default_slots:
        out(f"\nUnset, it serves {known.default_slots} requests at once.")
    out("\n`benchspec explain SETTING` explains one of them.")
    return True


def explain_setting(name: str, as_json: bool) -> bool:
    """Print what a flag or variable means to each engine that has it; False where none does."""
    found = list(_found(name))
    if not found:
        return False
    if as_json:
        data = [{"engine": known.kind, **_data(setting)} for known, setting in found]
        emit_json({"format_version": 1, "settings": data})
        return True
    for known, setting in found:
        out(f"{paint(f'{known.kind}: {setting.name}', 'strong')}")
        for label, value in _lines(setting):
            out(f"  {label:<10} {value}")
        out()
    return True


def _found(name: str) -> Iterator[tuple[EngineKnowledge, Setting]]:
    for kind in engines.kinds():
        known = engines.engine(kind)
        setting = known.find(name) if known else None
        if known and setting:
            yield known, setting


def _lines(setting: Setting) -> Iterator[tuple[str, str]]:
    lines = {
        "flags": " ".join((*setting.flags, *setting.negatives)),
        "variable": setting.env or "",
        "value": ", ".join(setting.choices) or setting.kind,
        "default": setting.default or "",
        "dead": ", ".join(setting.dead),
        "changes": ", ".join(setting.affects) if setting.known else "not worked out",
        "read back": setting.read_back or "",
        "note": setting.note or "",
    }
    yield from ((label, value) for label, value in lines.items() if value)


def _data(setting: Setting) -> dict[str, Any]:
    return {
        "name": setting.name,
        "flags": list(setting.flags),
        "negatives": list(setting.negatives),
        "env": setting.env,
        "value": setting.kind,
        "choices": list(setting.choices),
        "dead": list(setting.dead),
        "default": setting.default,
        "affects": list(setting.affects),
        "known": setting.known,
        "read_back": setting.read_back,
        "note": setting.note,
    }
