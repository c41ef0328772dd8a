"""What a command line sets is what its settings, written as an argument list again, set."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchspec.knowledge import engines
from benchspec.knowledge.model import EngineKnowledge, Setting
from tests.knowledge.test_commands import CASES

WITH_FLAGS = [
    kind
    for kind in engines.kinds()
    if (found := engines.engine(kind)) and any(each.flags for each in found.settings.values())
]
_EXAMPLES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(1, 9_999),
    "float": st.integers(1, 99).map(lambda n: n / 4),
    "size": st.integers(1, 9_999),
    "layers": st.integers(0, 999),
    "json": st.dictionaries(st.text("ab_", min_size=1, max_size=4), st.integers(0, 9), max_size=2),
    "list": st.lists(st.sampled_from(["a", "b=1", "x/y"]), min_size=1, max_size=3),
    "many": st.lists(st.sampled_from(["a", "0", "lowvram"]), max_size=2),
}


def known(kind: str) -> EngineKnowledge:
    found = engines.engine(kind)
    assert found is not None
    return found


def sets(kind: str, program: str, argv: list[str]) -> dict[str, object]:
    reading = known(kind).parse_args(program, argv, "flag")
    return {name: use.value for name, use in reading.settings.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_the_settings_of_a_posted_line_can_be_written_again(case: dict[str, Any]) -> None:
    parsed = engines.parse_command(case.get("kind"), case["command"])
    if parsed.engine is None or parsed.executable == "llama-bench":
        return  # llama-bench is described by a table of its own, and never started
    table = known(parsed.engine).settings
    stated = {
        name: use.value
        for name, use in parsed.settings.items()
        if use.origin == "command" and name in table and table[name].flags
    }
    again = sets(parsed.engine, parsed.executable, engines.to_argv(parsed.engine, stated))
    assert again == stated


def value_of(setting: Setting) -> st.SearchStrategy[Any]:
    if not setting.takes_value:
        return st.sampled_from([True, False] if setting.negatives else [True])
    alive = [choice for choice in setting.choices if choice not in setting.dead]
    if alive:
        return st.sampled_from(alive)
    return _EXAMPLES.get(
        setting.kind, st.sampled_from(["text", "a/b.gguf", "x=1,y=2", "-1", "été"])
    )


@st.composite
def flags(draw: st.DrawFn, kind: str) -> dict[str, object]:
    usable = [
        each
        for each in known(kind).settings.values()
        if each.flags and each.kind not in ("exit", "preset", "pair")
    ]
    chosen = draw(st.lists(st.sampled_from(usable), max_size=8, unique_by=lambda each: each.name))
    return {each.name: draw(value_of(each)) for each in chosen}


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kind", WITH_FLAGS)
def test_any_flags_are_read_as_they_were_written(kind: str, data: st.DataObject) -> None:
    wanted = data.draw(flags(kind))
    program = known(kind).program or ""
    assert sets(kind, program, engines.to_argv(kind, wanted)) == wanted
