"""Every defect of form becomes a sentence at its place, and one defect does not hide another."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.spec.digest import sha256_of
from benchspec.spec.loader import Loaded, load, read
from benchspec.spec.models import Load, Spec
from benchspec.spec.models import Test as SpecTest
from benchspec.spec.problems import FormProblem
from benchspec.spec.source import parse

ROOT = Path(__file__).parents[2]
HEAD = "benchspec: 1\nstudy: {title: Four slots}\n"
HYPOTHESIS = "hypotheses: [{id: H1, claim: c, test: %s}]\n"


def loaded(text: str, flags: tuple[str, ...] = ()) -> Loaded:
    return load(parse((HEAD + text).encode(), "spec.yaml"), flags)


def only(text: str) -> FormProblem:
    """The only problem of a spec with `text` in it."""
    (problem,) = loaded(text).problems
    return problem


def caret(text: str) -> str:
    """The text under the place at which the only problem of a spec is shown."""
    result = loaded(text)
    (problem,) = result.problems
    span = problem.span or result.document.span(problem.path)
    return result.document.lines[span.line - 1][span.column - 1 : span.end_column - 1]


def test_the_smallest_spec_has_no_problem_of_form() -> None:
    result = loaded("")
    assert result.problems == []
    assert result.spec is not None
    assert result.spec.study.title == "Four slots"


@pytest.mark.parametrize("path", sorted((ROOT / "specs").rglob("*.yaml")), ids=str)
def test_the_published_specs_have_no_problem_of_form(path: Path) -> None:
    assert load(read(path)).problems == []


def test_an_empty_file_and_a_list_are_told_apart() -> None:
    assert load(parse(b"# todo", "spec.yaml")).problems[0].message == "the file is empty"
    assert "not a map" in load(parse(b"- a", "spec.yaml")).problems[0].message


@pytest.mark.parametrize(
    ("text", "said", "advised"),
    [
        ("lod: {}", "`lod` is not a key of the top level", "did you mean `load`?"),
        ("load: {Concurrency: [1]}", "is not a key of load", "did you mean `concurrency`?"),
        ("model: {hidden-size: 3}", "is not a key of model", "did you mean `hidden_size`?"),
        ("requests: 5", "not a key of the top level", "`requests` belongs under load or warmup"),
        ("arms: [{id: A, flags: {}}]", "not a key of arms[0]", "belongs under engine"),
        ("arms: [{id: A, engine: {knd: x}}]", "not a key of arms[0].engine", "`kind`"),
        ("engine: {kind: vllm, parallel: 4}", "not a key of engine", "under engine.flags"),
        ("study2: {}", "`study2` is not a key", "did you mean `study`? (it is here already)"),
        ("zzz: 1", "`zzz` is not a key", "keys here are benchspec, study, hypotheses"),
    ],
)
def test_an_unknown_key_is_named_with_what_was_meant(text: str, said: str, advised: str) -> None:
    problem = only(text)
    assert problem.kind == "unknown-key"
    assert said in problem.message
    assert advised in problem.help


def test_a_misplaced_flag_is_known_when_the_flags_are() -> None:
    (problem,) = loaded("n_gpu_layers: 3", flags=("n-gpu-layers",)).problems
    assert "is a flag of the engine: it belongs under engine.flags" in problem.help


def test_an_unknown_key_is_shown_at_the_key_and_leaves_the_rest_usable() -> None:
    assert caret("lod: {a: 1}") == "lod"
    spec = loaded("lod: {a: 1}\nload: {concurrency: [1], foo: 2}").spec
    assert spec is not None
    assert spec.load.concurrency == [1]


@pytest.mark.parametrize(
    ("text", "kind", "at", "said", "advised"),
    [
        ("repeats: many", "wrong-type", "many", "a whole number is wanted", "write a whole number"),
        ("repeats: '3'", "wrong-type", "'3'", "the text '3'", "without quotes"),
        ("repeats: 2.5", "wrong-type", "2.5", "the number 2.5", "a whole number"),
        ("repeats: true", "wrong-type", "true", "repeats is true", "a whole number"),
        ("repeats: 0", "wrong-value", "0", "must be above 0", "correct"),
        ("order: random", "wrong-value", "random", "the text 'random'", "interleaved or fixed"),
        ("arms: {id: A}", "wrong-type", "{id: A}", "a map; a list is wanted", "- item"),
        ("load: [1]", "wrong-type", "[1]", "a list; a map", "a map"),
        ("model: {name: true}", "wrong-type", "true", "text is wanted", "quote it"),
        ("model: {sha256: abc}", "wrong-value", "abc", "'abc'", "64 lower-case hexadecimal"),
        (
            "engine: {kind: openai, attach: localhost:80}",
            "wrong-value",
            "localhost:80",
            "attach",
            "http://HOST:PORT",
        ),
        (
            "engine: {kind: openai, attach: 'ftp://h'}",
            "wrong-value",
            "'ftp://h'",
            "attach",
            "http://HOST:PORT",
        ),
        (
            "engine: {kind: openai, attach: 'http://u:pw@h'}",
            "wrong-value",
            "'http://u:pw@h'",
            "attach",
            "without user, password or query",
        ),
        (
            "engine: {kind: openai, api_key_env: sk-0a1b}",
            "wrong-value",
            "sk-0a1b",
            "api_key_env",
            "the NAME of an environment variable",
        ),
        ("arms: [{id: a b}]", "wrong-value", "a b", "'a b'", "a letter or digit"),
        ("engine: {version: 1}", "missing-key", "engine", "`kind` is missing in engine", "add it"),
        ("unfinished: {a: 1}", "wrong-type", "{a: 1}", "a list is wanted", "- item"),
        (
            "hardware: {devices: [{id: g, memory: 64 GB/s}]}",
            "wrong-unit",
            "64 GB/s",
            "'GB/s' is a unit of bandwidth",
            "GiB",
        ),
        (
            "hardware: {devices: [{id: g, memory_bandwidth: 0 GB/s}]}",
            "wrong-value",
            "0 GB/s",
            "must be above zero",
            "correct",
        ),
        (
            "hardware: {devices: [{id: g, bandwidth_curve: {8 GB/s: 3 GB/s}}]}",
            "wrong-unit",
            "3 GB/s",
            "a unit of bandwidth",
            "a size is written in",
        ),
    ],
)
def test_a_wrong_value_says_what_is_there_and_what_is_wanted(
    text: str, kind: str, at: str, said: str, advised: str
) -> None:
    problem = only(text)
    assert (problem.kind, caret(text)) == (kind, at)
    assert said in problem.message
    assert advised in problem.help


def test_missing_keys_of_the_top_level_are_said_once_each() -> None:
    problems = load(parse(b"load: {}", "spec.yaml")).problems
    assert [problem.path for problem in problems] == [("benchspec",), ("study",)]


def test_a_later_version_of_the_language_is_not_guessed_at() -> None:
    (problem,) = load(parse(b"benchspec: 2\nstudy: {title: x}", "spec.yaml")).problems
    assert "this program reads version 1" in problem.message


def test_a_union_gives_one_error() -> None:
    (problem,) = loaded(HYPOTHESIS % "{metric: ttft_ms, value: [1]}").problems
    assert problem.message.endswith(
        "is a list; a number, or text such as '265..315 GB/s', is wanted"
    )


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "Y", "N"])
def test_a_word_that_was_a_bool_is_ambiguous_where_a_bool_is_wanted(word: str) -> None:
    problem = only(f"workload: {{output: {{forced: {word}}}}}")
    assert problem.kind == "ambiguous-scalar"
    assert problem.help in ("write true", "write false")


def test_a_quoted_word_is_text_and_not_ambiguous() -> None:
    assert only("workload: {output: {forced: 'off'}}").kind == "wrong-type"


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "'017'", "auto", "127.0.0.1:80"])
def test_a_word_in_a_flag_is_that_word(word: str) -> None:
    result = loaded(f"engine: {{kind: llama.cpp, flags: {{fit: {word}}}}}")
    assert result.problems == []
    assert result.spec is not None
    assert result.spec.engine is not None
    assert result.spec.engine.flags["fit"] == word.strip("'")


@pytest.mark.parametrize(
    ("text", "advised"),
    [
        ("repeats: 010", "write 10"),
        ("seeds: [1, 007]", "write 7"),
        ("load: {requests: 1_000}", "write 1000"),
        ("engine: {kind: vllm, flags: {seed: 017}}", "write 17"),
        ("engine: {kind: vllm, flags: {at: 12:30}}", "write '12:30' in quotes"),
        (
            "engine: {kind: vllm}\narms: [{id: A, engine: {flags: {n: 1_0}}}]",
            "write '1_0' in quotes",
        ),
        ("arms: [{id: A, model: {layers: 012}}]", "write 12"),
    ],
)
def test_a_number_that_yaml_1_1_reads_otherwise_is_ambiguous(text: str, advised: str) -> None:
    problem = only(text)
    assert (problem.kind, problem.help) == ("ambiguous-scalar", advised)


@pytest.mark.parametrize(
    "text",
    ["model: {name: 007}", "engine: {kind: vllm, version: 010}", "unfinished: 12:30"],
)
def test_where_text_is_wanted_nothing_is_ambiguous(text: str) -> None:
    assert loaded(text).problems == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("load: {concurrency: [1], rate: [2]}", "both `concurrency` (closed loop) and `rate`"),
        ("load: {requests: 3, duration: 30 s}", "both `requests` and `duration`"),
        ("hypotheses: [{id: H1, claim: a}, {id: H1, claim: b}]", "the id 'H1' is used twice"),
        ("arms: [{id: A}, {id: A}]", "the id 'A' is used twice in arms"),
        ("hardware: {devices: [{id: a}, {id: a}]}", "'a' is used twice in hardware.devices"),
        (HYPOTHESIS % "{relation: '<'}", "names no metric and no check"),
        (HYPOTHESIS % "{metric: ttft_ms, check: queueing}", "names both a metric and a check"),
        (HYPOTHESIS % "{metric: throughput}", "'throughput', which is no metric"),
        (
            HYPOTHESIS % "{metric: ttft_ms.p105}",
            "'p105' in hypotheses[0].test.metric is not a perc",
        ),
        (HYPOTHESIS % "{metric: wall_s, at: {arm: Z}}", "'Z', which is no arm of this spec"),
        (HYPOTHESIS % "{metric: wall_s, over: {device: Z}}", "'Z', which is no device of this"),
        ("arms: [{id: A, control_for: A}]", "'A', which is no other arm"),
        ("arms: [{id: A}, {id: B, control_for: C}]", "'C', which is no other arm"),
        ("waivers: [{rule: BS505, arm: C}]", "'C', which is no arm"),
        ("hardware: {devices: [{id: a}], links: [{between: [a, b]}]}", "'b', which is no device"),
        ("hardware: {links: [{between: [a]}]}", "has fewer than 2 items"),
        ("engine: {kind: vllm, flags: {x: }}", "the flag `x` has no value"),
        ("engine: {kind: vllm, flags: {x: [1, [2]]}}", "flags.x[1] is not a value of a repeated"),
    ],
)
def test_parts_that_contradict_each_other_are_problems_of_form(text: str, said: str) -> None:
    assert said in loaded(text).problems[0].message


@pytest.mark.parametrize(
    "text",
    [
        HYPOTHESIS % "{metric: ttft_ms.p99.9, relation: '<', value: 200}",
        HYPOTHESIS % "{check: queueing, at: {arm: main}, expect: queued}",
        "hypotheses: [{id: H2, claim: c, rests_on: H9}]",
        "study2:",
        "hardware: {devices: [{id: a}]}\narms: [{id: A, devices: [{id: b}]}]\n"
        + HYPOTHESIS % "{metric: wall_s, at: {device: b}}",
    ],
)
def test_what_is_the_linters_business_is_left_to_it(text: str) -> None:
    assert [problem.kind for problem in loaded(text).problems] in ([], ["unknown-key"])


def test_an_empty_key_is_an_empty_map_or_list() -> None:
    result = loaded(
        "hardware:\nmodel:\narms:\nload:\nworkload:\n  label:\nengine:\n  kind: vllm\n  flags:\n"
    )
    assert result.problems == []
    assert result.spec is not None
    assert result.spec.arms == []
    assert result.spec.engine is not None
    assert result.spec.engine.flags == {}


def test_problems_come_in_the_order_of_the_file() -> None:
    result = loaded("load: {x: 1}\nrepeats: 0\nmodel: {layers: -1}\nload: {y: 1}\n")
    lines = [(p.span or result.document.span(p.path)).line for p in result.problems]
    assert lines == sorted(lines) == [3, 4, 5, 6]


def test_nothing_is_judged_that_was_not_understood() -> None:
    assert loaded("repeats: 0").spec is None
    assert loaded("load: {concurrency: 1, rate: 1}").spec is None
    assert loaded("repeats: 017").spec is not None


def test_no_message_speaks_of_the_machinery() -> None:
    text = "repeats: x\nmodel: 3\nseeds: [a, true]\norder: 5\narms: [{}]\nhardware: {links: [{between: 4}]}"
    for problem in loaded(text).problems:
        for word in ("pydantic", "Input", "validat", "dict", "str", "NoneType", "instance"):
            assert word not in problem.message + problem.help


KEYS = st.sampled_from(
    sorted({*Spec.model_fields, *SpecTest.model_fields, *Load.model_fields, "id"})
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**18),
    st.floats(),
    st.sampled_from(["A", "3 GB", "vllm"]),
)
TREES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(KEYS, TREES, max_size=8))
def test_any_tree_of_known_keys_is_a_spec_or_sentences(tree: dict[str, object]) -> None:
    text = json.dumps({"benchspec": 1, "study": {"title": "x"}} | tree)  # JSON is YAML
    result = load(parse(text.encode(), "spec.yaml"))
    assert result.spec is not None or result.problems
    for problem in result.problems:
        assert problem.message
        assert problem.help


def test_the_digest_is_that_of_the_file() -> None:
    data = b"\xef\xbb\xbfbenchspec: 1\r\n"
    assert sha256_of(parse(data, "spec.yaml").raw) == hashlib.sha256(data).hexdigest()
