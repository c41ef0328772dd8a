"""The JSON Schema is current, valid, and says what the loader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from benchspec.spec.keys import slots
from benchspec.spec.loader import load, read
from benchspec.spec.models import Arm, Spec
from benchspec.spec.node import Node
from benchspec.spec.schema import json_schema, schema_text
from benchspec.spec.source import parse

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs/schema/spec-1.json"
HEAD: dict[str, Any] = {"benchspec": 1, "study": {"title": "x"}}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema())


def nodes(model: type[Node] = Spec) -> list[type[Node]]:
    inner = [slot.model for slot in slots(model).values() if slot.model]
    return [model, *(found for node in inner for found in nodes(node))]


def test_the_committed_file_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema_text()


def test_is_a_schema_of_2020_12_with_a_name() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"]
    assert schema["title"]


def test_every_key_has_hover_text() -> None:
    for model in nodes():
        for name, key in model.model_fields.items():
            assert key.description, f"{model.__name__}.{name}"
            assert key.description.endswith((".", "?", "..")), f"{model.__name__}.{name}"
    for definition in [json_schema(), *json_schema()["$defs"].values()]:
        for name, property_ in definition["properties"].items():
            assert property_["description"], name


@pytest.mark.parametrize("path", sorted((ROOT / "specs").rglob("*.yaml")), ids=str)
def test_accepts_the_published_specs(path: Path, schema: jsonschema.Draft202012Validator) -> None:
    schema.validate(read(path).data)


ACCEPTED = [
    "",
    "load: {concurrency: 4}",
    "load: {concurrency: [1, 2], cache: cold, context: 1e3, timeout: 5 min}",
    "repeats: 3\nseeds: 7",
    "hardware:\nmodel:\narms:\nload:\nworkload:\n  label:\nhypotheses:",
    "engine: {kind: vllm, version: 1.10, flags: {a: 1, b: [x, y], c: {d: 1}, e: true}, env: {A: 1}}",
    "engine:\n  kind: vllm\n  flags:\n  env:",
    "model: {sha256: %s, parameters: {total: 320e9}}" % ("1" * 64),
    "arms: [{id: 1, engine: , model: {name: null, parameters: {active: 3}}}, {id: B, devices: [a]}]\n"
    "hardware: {devices: [{id: a, share: 0.5}]}",
    "arms: [{id: A, engine: {flags: {x: null}, env: {A: null}}, workload: {prompt: {tokens: null}}}]\n"
    "engine: {kind: vllm, flags: {x: 1}, env: {A: b}}",
    "hypotheses: [{id: H1, claim: c, prediction: 1.5, test: {metric: wall_s, value: 3..4 s, expect: a}}]",
    "hardware: {devices: [{id: a, memory: 8 GB, bandwidth_curve: {8 GiB: 3 GB/s}}]}",
    "unfinished: one thing\ntelemetry: {statistic: {pcie: mean}}",
    "observations: {steps: [{wall_s: 31.3, ttft_ms: 6.8 s, stream_tok_s: 86..98}],\n"
    " series: [{counter: nvlink, unit: MB/s, values: N/A}, {counter: pcie, unit: MB/s, mean: 1..2,\n"
    " values: [1, null, 2.5]}], arms: {main: {slots: 4, identity: {build: 1}}}}",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepts_what_the_loader_accepts(
    text: str, schema: jsonschema.Draft202012Validator
) -> None:
    document = parse(f"benchspec: 1\nstudy: {{title: x}}\n{text}".encode(), "spec.yaml")
    assert load(document).problems == []
    schema.validate(document.data)


@pytest.mark.parametrize(
    "change",
    [
        {"benchspec": 2},
        {"benchspec": True},
        {"study": {}},
        {"lod": {}},
        {"load": {"concurrency": "4"}},
        {"load": {"concurrency": [0]}},
        {"load": {"mode": "steady"}},
        {"repeats": 1.5},
        {"arms": [{"id": "A", "engine": {"knd": "vllm"}}]},
        {"arms": [{"engine": {}}]},
        {"hardware": {"devices": [{"id": "a", "memory": 64}]}},
        {"hardware": {"links": [{"between": ["a"]}]}},
        {"model": {"sha256": "abc"}},
        {"workload": {"output": {"forced": "yes"}}},
    ],
)
def test_refuses_what_the_loader_refuses(
    change: dict[str, Any], schema: jsonschema.Draft202012Validator
) -> None:
    data = HEAD | change
    assert not schema.is_valid(data)
    assert load(parse(json.dumps(data).encode(), "spec.yaml")).problems


def test_an_arm_completes_to_the_keys_of_what_it_overrides() -> None:
    definitions = json_schema()["$defs"]
    override = definitions["EngineSpecOverride"]
    assert set(override["properties"]) == set(definitions["EngineSpec"]["properties"])
    assert "required" not in override
    assert set(definitions["Arm"]["properties"]) == set(Arm.model_fields)
