"""Changes of a spec as data: one more step, more slots, a key. Whoever writes files applies them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from benchspec.judge.case import Case
from benchspec.spec.problems import Path

SLOT_FLAGS = {
    "llama.cpp": "parallel",
    "vllm": "max-num-seqs",
    "sglang": "max-running-requests",
    "ollama": "num-parallel",
}
"""Engine kind -> the flag that says how many requests are served at once."""


class Change(NamedTuple):
    """`put`: the map at `path` gets `key: value` (YAML); `extend`: the list there gets the numbers
    `8, 16`; `append`: the command line there gets words."""

    kind: Literal["put", "extend", "append"]
    path: Path
    key: str
    value: str


def put(path: Path, key: str, value: str) -> Change:
    """The map at `path` gets `key: value`; `value` is YAML."""
    return Change("put", path, key, value)


def load_steps(case: Case, *counts: int) -> Change:
    """More steps of the sweep; where the spec has none yet, after those that were observed."""
    seen = [] if case.spec.load.concurrency else [p.concurrency for p in case.places]
    steps = sorted({*counts, *(count for count in seen if count)})
    return Change("extend", ("load", "concurrency"), "", ", ".join(map(str, steps)))


def more_slots(case: Case, arm: str, count: int) -> tuple[Change, ...]:
    """The slots of an arm, and with them the context that they share."""
    resolved = case.arms.get(arm)
    engine = resolved.engine if resolved else None
    if resolved is None or engine is None:
        return ()
    settings = case.setup(arm).settings
    name = next((n for n in SLOT_FLAGS.values() if n in settings), SLOT_FLAGS.get(engine.kind))
    declared = () if engine.slots is None else (put(_engine_at(case, arm), "slots", str(count)),)
    if name is None or engine.attach:
        return declared or (put(_engine_at(case, arm), "slots", str(count)),)
    wanted = {name: str(count)}
    context = settings.get("ctx-size")
    old = case.slots(arm)
    if engine.kind == "llama.cpp" and context and isinstance(context.value, int) and old:
        wanted["ctx-size"] = str(context.value * count // old.count)
    if engine.command:
        words = " ".join(f"--{flag} {value}" for flag, value in wanted.items())
        return (*declared, Change("append", resolved.where(("engine", "command")), "", words))
    return (
        *declared,
        *(
            put(_flags_at(case, arm, flag), _spelled(case, arm, flag), value)
            for flag, value in wanted.items()
        ),
    )


def _engine_at(case: Case, arm: str) -> Path:
    return case.arms[arm].where(("engine", "slots"))[:-1]


def _flags_at(case: Case, arm: str, flag: str) -> Path:
    """The map that states the flag, else the base's flags."""
    resolved = case.arms[arm]
    stated = resolved.stated.get(flag)
    return stated.path[:-1] if stated else ("engine", "flags")


def _spelled(case: Case, arm: str, flag: str) -> str:
    """The flag as it is written there: `np` stays `np`."""
    stated = case.arms[arm].stated.get(flag)
    return str(stated.path[-1]) if stated else flag
