"""What a person writes under `observations` becomes Observations; what is wrong has a place."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from benchspec.observations import model
from benchspec.observations.from_spec import observations_of
from benchspec.observations.model import Observations
from benchspec.observations.node import Bounds
from benchspec.spec.keys import slots
from benchspec.spec.loader import load
from benchspec.spec.node import Node
from benchspec.spec.observed import Observed
from benchspec.spec.problems import FormProblem
from benchspec.spec.source import parse

HEAD = "benchspec: 1\nstudy: {title: x}\n"


def observed(text: str, head: str = HEAD) -> Observations:
    loaded = load(parse(f"{head}observations:\n{text}".encode(), "spec.yaml"))
    assert loaded.spec is not None, loaded.problems
    assert loaded.problems == []
    return observations_of(loaded.spec)


def problem(text: str, head: str = HEAD) -> tuple[FormProblem, int, str]:
    """The only problem, its line, and the text under its caret."""
    document = parse(f"{head}observations:\n{text}".encode(), "spec.yaml")
    (found,) = load(document).problems
    span = found.span or document.span(found.path)
    return found, span.line, document.lines[span.line - 1][span.column - 1 : span.end_column - 1]


def test_a_table_of_steps_as_an_author_prints_it() -> None:
    seen = observed(
        "  source: a blog post\n"
        "  steps:\n"
        "  - {concurrency: 1, stream_tok_s: 25.35, aggregate_tok_s: 22.93, wall_s: 8.4}\n"
        "  - {concurrency: 4, completions_s: [5.5, 11.1, 16.8 s, 22500 ms], tokens_per_request: 512}\n"
    )
    first, second = seen.steps
    assert (first.arm, first.concurrency, first.wall_s) == ("main", 1, 8.4)
    assert (first.source, first.provenance) == ("a blog post", "measured")
    assert second.completions_s == [5.5, 11.1, 16.8, 22.5]
    assert seen.origin == "audit"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("39.2", 39.2),
        ("39.2 ms", 39.2),
        ("0.0392 s", 39.2),
        ("38..40", Bounds(low=38, high=40)),
        ("38..40 ms", Bounds(low=38, high=40)),
        ("0.038 s to 40 ms", Bounds(low=38, high=40)),
        ("-3", -3.0),
    ],
)
def test_a_figure_is_in_the_unit_of_its_key(written: str, found: object) -> None:
    assert observed(f"  steps: [{{round_ms: {written}}}]\n").steps[0].round_ms == found


def test_a_counter_that_answers_na_was_not_measured() -> None:
    (nvlink, pcie) = observed(
        "  series:\n"
        "  - {counter: nvlink, unit: MB/s, values: N/A}\n"
        "  - {counter: pcie_rx, unit: MB/s, values: [13, null, 1111], idle_before: [0, N/A]}\n"
    ).series
    assert nvlink.values == []
    assert nvlink.not_measured == "the counter answers N/A"
    assert pcie.values == [13.0, None, 1111.0]
    assert pcie.idle_before == [0.0, None]


def test_everything_of_an_arm_stands_under_its_id() -> None:
    head = HEAD + "arms: [{id: A}, {id: B}]\n"
    seen = observed(
        "  arms:\n"
        "    B:\n"
        "      slots: 4\n"
        "      settings: [{name: parallel, asked: 8, found: 4, found_source: log}]\n"
        "      log: [{effect: refused, text: batching is not available}]\n"
        "      identity: {model_sha256: abc, engine_build: 10064}\n",
        head,
    )
    assert seen.arms["B"].settings[0].found == 4
    assert seen.arms["B"].log[0].effect == "refused"
    assert seen.arms["B"].identity == {"model_sha256": "abc", "engine_build": 10064}


def test_parts_and_factors() -> None:
    seen = observed(
        "  budgets: [{name: round, total_ms: 33 ms, parts: {attention: 10.5, matmul: 13.2 ms}}]\n"
        "  factors: [{name: ratio, observed: 2.36, factors: [{name: bytes, over: 2.8, under: 1.849}]}]\n"
        "  transfers: [{bytes_per_token: 64 KiB, crossings: 2, provenance: bound}]\n"
    )
    assert seen.budgets[0].parts == {"attention": 10.5, "matmul": 13.2}
    assert seen.factors[0].factors[0].under == 1.849
    assert seen.transfers[0].bytes_per_token == 65536


@pytest.mark.parametrize(
    ("text", "kind", "line", "under", "said"),
    [
        ("  steps:\n  - {concurency: 4}\n", "unknown-key", 5, "concurency", "`concurrency`"),
        ("  arms:\n    main: {slotz: 4}\n", "unknown-key", 5, "slotz", "`slots`"),
        ("  arms:\n    other: {slots: 4}\n", "wrong-value", 5, "{slots: 4}", "'other'"),
        ("  steps:\n  - {wall_s: 39 GB}\n", "wrong-unit", 5, "39 GB", "unit of size"),
        ("  steps:\n  - {wall_s: fast}\n", "wrong-unit", 5, "fast", "not a duration"),
        ("  steps:\n  - {concurrency: 1.5}\n", "wrong-type", 5, "1.5", "whole number"),
        ("  steps:\n  - {completions_s: [1..2]}\n", "wrong-value", 5, "1..2", "an interval"),
        ("  series:\n  - {unit: MB/s}\n", "missing-key", 5, "{unit: MB/s}", "`counter`"),
        ("  series:\n  - {counter: a, unit: b, mean: 3 %}\n", "wrong-unit", 5, "3 %", "%"),
        ("  parity:\n  - {arms: [main], n: 3}\n", "wrong-value", 5, "[main]", "fewer than 2"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(
    text: str, kind: str, line: int, under: str, said: str
) -> None:
    found, at, marked = problem(text)
    assert (found.kind, at, marked) == (kind, line, under)
    assert said in f"{found.message} {found.help}"


def test_with_several_arms_a_step_says_which() -> None:
    found, line, _ = problem(
        "  steps:\n  - {concurrency: 4}\n", HEAD + "arms: [{id: A}, {id: B}]\n"
    )
    assert (found.kind, line) == ("missing-key", 6)
    assert "A, B" in found.help


def _model_of(annotation: Any) -> type[pydantic.BaseModel] | None:
    for part in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(part, type) and issubclass(part, pydantic.BaseModel) and part is not Bounds:
            return part
        inner = _model_of(part) if part is not annotation else None
        if inner:
            return inner
    return None


NOT_WRITTEN = {"format_version", "origin", "loaded_on"}
"""An author who writes what was loaded means the devices of the arm."""


def _differences(node: type[Node], seen: type[pydantic.BaseModel], path: str) -> list[str]:
    """Keys that only one of the two has, all the way down."""
    keys, fields = slots(node), seen.model_fields
    found = [f"{path}.{name}" for name in (keys.keys() ^ fields.keys()) - NOT_WRITTEN]
    for name in keys.keys() & fields.keys():
        inner, model_inner = keys[name].model, _model_of(fields[name].annotation)
        if inner and model_inner:
            found += _differences(inner, model_inner, f"{path}.{name}")
    return found


def test_the_key_and_the_model_have_the_same_parts() -> None:
    assert _differences(Observed, model.Observations, "observations") == ["observations.source"]
