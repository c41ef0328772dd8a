"""Arms over the base: what differs, and only that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import UsageError
from benchspec.spec.arms import ResolvedArm, Stated, merge, resolve_arms
from benchspec.spec.loader import load
from benchspec.spec.models import Arm, Spec
from benchspec.spec.source import parse

HEAD = "benchspec: 1\nstudy: {title: x}\n"
ALIASES = {"np": "parallel", "n-parallel": "parallel", "c": "ctx-size", "ngl": "n-gpu-layers"}


def canonical(_kind: str, flag: str) -> str:
    return ALIASES.get(flag.lstrip("-"), flag.lstrip("-"))


def arms(text: str) -> list[ResolvedArm]:
    loaded = load(parse((HEAD + text).encode(), "spec.yaml"))
    assert loaded.problems == []
    assert loaded.spec is not None
    return resolve_arms(loaded.spec, canonical)


def flags(text: str) -> dict[str, Any]:
    """The flags of the only arm."""
    (arm,) = arms(text)
    assert arm.engine is not None
    return arm.engine.flags


BASE = "engine: {kind: llama.cpp, version: b1, flags: {parallel: 4, fit: off}, env: {A: 1, B: 2}}\n"


def test_no_arms_are_one_arm_called_main() -> None:
    (arm,) = arms(BASE)
    assert (arm.id, arm.title, arm.control_for) == ("main", None, ())
    assert arm.engine is not None
    assert arm.engine.flags == {"parallel": 4, "fit": "off"}
    assert arm.stated["parallel"] == Stated("base", ("engine", "flags", "parallel"))
    assert arm.where(("engine", "version")) == ("engine", "version")


def test_a_spec_without_an_engine_has_arms_without_one() -> None:
    assert arms("")[0].engine is None
    assert [arm.engine for arm in arms("arms: [{id: A}, {id: B}]")] == [None, None]


def test_an_arm_may_bring_the_engine() -> None:
    (arm,) = arms("arms: [{id: A, engine: {kind: vllm}}]")
    assert arm.engine is not None
    assert arm.engine.kind == "vllm"


def test_an_arm_that_states_nothing_is_the_base() -> None:
    (bare,) = arms(BASE)
    (arm,) = arms(BASE + "arms: [{id: A, engine: , model: {}}]")
    assert (arm.engine, arm.model, arm.workload) == (bare.engine, bare.model, bare.workload)


def test_maps_merge_by_key_and_scalars_replace() -> None:
    (arm,) = arms(BASE + "arms: [{id: A, engine: {version: b2, env: {B: 3, C: 4}}}]")
    assert arm.engine is not None
    assert arm.engine.version == "b2"
    assert arm.engine.env == {"A": "1", "B": "3", "C": "4"}


def test_maps_within_maps_merge_too() -> None:
    (arm,) = arms(
        "workload: {prompt: {tokens: 64, unique: false}, output: {tokens: 8}}\n"
        "arms: [{id: A, workload: {prompt: {tokens: 128}}}]"
    )
    assert (arm.workload.prompt.tokens, arm.workload.prompt.unique) == (128, False)
    assert arm.workload.output.tokens == 8


def test_lists_replace() -> None:
    assert flags(
        "engine: {kind: vllm, flags: {lora-modules: [a, b]}}\n"
        "arms: [{id: A, engine: {flags: {lora-modules: [c]}}}]"
    ) == {"lora-modules": ["c"]}


def test_null_removes() -> None:
    (arm,) = arms(
        BASE + "model: {name: m, layers: 3}\n"
        "arms: [{id: A, engine: {version: null, flags: {fit: null}, env: {A: null}}, model: {layers: ~}}]"
    )
    assert arm.engine is not None
    assert arm.engine.version is None
    assert arm.engine.flags == {"parallel": 4}
    assert arm.engine.env == {"B": "2"}
    assert (arm.model.name, arm.model.layers) == ("m", None)


def test_null_may_remove_what_is_not_there() -> None:
    assert flags(BASE + "arms: [{id: A, engine: {flags: {nothing: null}}}]") == {
        "parallel": 4,
        "fit": "off",
    }


@pytest.mark.parametrize("empty", ["engine:", "engine: {flags: }", "engine: {flags: {}, env: }"])
def test_an_empty_map_changes_nothing(empty: str) -> None:
    assert flags(BASE + f"arms:\n  - id: A\n    {empty}\n") == {"parallel": 4, "fit": "off"}


@pytest.mark.parametrize("spelling", ["np", "n-parallel", "--parallel", "parallel"])
def test_a_flag_replaces_every_spelling_of_itself(spelling: str) -> None:
    text = BASE + f"arms: [{{id: A, engine: {{flags: {{{spelling}: 8}}}}}}]"
    assert flags(text) == {spelling: 8, "fit": "off"}


def test_an_alias_may_remove_a_flag() -> None:
    assert flags(BASE + "arms: [{id: A, engine: {flags: {np: null}}}]") == {"fit": "off"}


def test_two_spellings_in_one_place_are_left_for_the_linter() -> None:
    text = BASE + "arms: [{id: A, engine: {flags: {np: 1, parallel: 2}}}]"
    assert flags(text) == {"np": 1, "parallel": 2, "fit": "off"}


def test_a_flag_that_is_a_map_merges_like_one() -> None:
    assert flags(
        "engine: {kind: vllm, flags: {spec: {method: mtp, k: 3}}}\n"
        "arms: [{id: A, engine: {flags: {spec: {k: 5}}}}]"
    ) == {"spec": {"method": "mtp", "k": 5}}


def test_a_command_replaces_command_and_flags_but_not_the_environment() -> None:
    (arm,) = arms(BASE + 'arms: [{id: A, engine: {command: "llama-server -np 1"}}]')
    assert arm.engine is not None
    assert (arm.engine.command, arm.engine.flags) == ("llama-server -np 1", {})
    assert arm.engine.env == {"A": "1", "B": "2"}
    assert arm.stated == {}


def test_flags_beside_a_command_are_added_to_it() -> None:
    (arm,) = arms(BASE + "arms: [{id: A, engine: {command: llama-server, flags: {np: 2}}}]")
    assert arm.engine is not None
    assert (arm.engine.command, arm.engine.flags) == ("llama-server", {"np": 2})


def test_flags_over_a_command_of_the_base_are_added_to_it() -> None:
    (arm,) = arms(
        "engine: {kind: llama.cpp, command: llama-server -np 4, flags: {fit: off}}\n"
        "arms: [{id: A, engine: {flags: {np: 2}}}]"
    )
    assert arm.engine is not None
    assert arm.engine.command == "llama-server -np 4"
    assert arm.engine.flags == {"fit": "off", "np": 2}


def test_flags_keep_how_they_were_written() -> None:
    value = flags("engine: {kind: vllm, flags: {gpu-memory-utilization: 0.90}}")
    assert value["gpu-memory-utilization"].raw == "0.90"


def test_every_flag_knows_where_it_was_stated() -> None:
    first, second = arms(
        BASE + "arms: [{id: A}, {id: B, engine: {flags: {np: 8, fit: null, c: 1}, version: b2}}]"
    )
    assert first.stated["parallel"] == Stated("base", ("engine", "flags", "parallel"))
    assert second.stated == {
        "parallel": Stated("arm", ("arms", 1, "engine", "flags", "np")),
        "ctx-size": Stated("arm", ("arms", 1, "engine", "flags", "c")),
    }
    assert first.where(("engine", "version")) == ("engine", "version")
    assert second.where(("engine", "version")) == ("arms", 1, "engine", "version")
    assert second.where(("engine", "kind")) == ("engine", "kind")


def test_devices_are_replaced_by_ids_or_whole_ones() -> None:
    base = "hardware: {devices: [{id: a, memory: 8 GB}, {id: 7}]}\n"
    all_, some, new = arms(
        base
        + "arms: [{id: A}, {id: B, devices: [7]}, {id: C, devices: [a, {id: n, memory: 1 GB}]}]"
    )
    assert [device.id for device in all_.devices] == ["a", "7"]
    assert [device.id for device in some.devices] == ["7"]
    assert [str(device.memory) for device in new.devices] == ["8 GB", "1 GB"]
    assert new.where(("devices", 0)) == ("arms", 2, "devices", 0)
    assert all_.where(("devices", 0)) == ("hardware", "devices", 0)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("arms: [{id: A, engine: {flags: {x: 1}}}]", ("arms", 0, "engine", "kind")),
        ("arms: [{id: A, engine: {kind: none}}]", ("arms", 0, "engine", "kind")),
        ("arms: [{id: A, engine: {kind: vllm, flags: 3}}]", ("arms", 0, "engine", "flags")),
        ("arms: [{id: A, model: {layers: x}}]", ("arms", 0, "model", "layers")),
        (
            "arms: [{id: A, workload: {prompt: {tokens: 0}}}]",
            ("arms", 0, "workload", "prompt", "tokens"),
        ),
        ("arms: [{id: A, devices: [gpu9]}]", ("arms", 0, "devices", 0)),
        ("arms: [{id: A, devices: [{memory: 1 GB}]}]", ("arms", 0, "devices", 0, "id")),
    ],
)
def test_an_arm_that_does_not_fit_is_a_problem_at_its_place(
    text: str, path: tuple[Any, ...]
) -> None:
    (problem,) = load(parse((HEAD + text).encode(), "spec.yaml")).problems
    assert problem.path == path


def test_a_spec_that_was_never_loaded_is_refused_with_a_sentence() -> None:
    spec = Spec.model_validate(
        {"benchspec": 1, "study": {"title": "x"}, "arms": [{"id": "A", "model": {"layers": "x"}}]}
    )
    with pytest.raises(UsageError, match=r"arms\[0\].model.layers is the text 'x'"):
        resolve_arms(spec, canonical)
    assert isinstance(spec.arms[0], Arm)


TREES = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(
        st.integers() | st.lists(st.integers(), max_size=2),
        lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
        max_leaves=8,
    ),
)


@given(TREES)
def test_merging_nothing_changes_nothing(tree: dict[str, Any]) -> None:
    assert merge(tree, {}) == tree
    assert merge({}, tree) == tree
    assert merge(tree, tree) == tree
    assert merge(tree, dict.fromkeys(tree)) == {}


@given(TREES, TREES, TREES)
def test_merging_twice_is_merging_the_merged(
    base: dict[str, Any], one: dict[str, Any], two: dict[str, Any]
) -> None:
    if not any(isinstance(part, dict) for tree in (base, one, two) for part in tree.values()):
        assert merge(merge(base, one), two) == merge(base, merge(one, two)) == base | one | two
    assert merge(merge(base, one), one) == merge(base, one)


@given(TREES, TREES)
def test_merging_leaves_what_it_merges_as_it_was(base: dict[str, Any], own: dict[str, Any]) -> None:
    before = repr((base, own))
    merge(base, own)
    assert repr((base, own)) == before
