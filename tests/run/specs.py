"""Specs for tests of planning, made from a little text."""

from __future__ import annotations

from benchspec.knowledge.engines import canonical
from benchspec.run.plan import Plan, make_plan
from benchspec.spec.arms import resolve_arms
from benchspec.spec.digest import sha256_of
from benchspec.spec.loader import load
from benchspec.spec.models import Spec
from benchspec.spec.source import parse

BASE = """\
benchspec: 1
study: {title: T}
model: {source: "file:m.gguf"}
engine: {kind: llama.cpp, binary: embedded, flags: {ctx-size: 512}}
"""


def spec_of(text: str) -> Spec:
    """BASE and `text` as a spec."""
    loaded = load(parse((BASE + text).encode(), "spec.yaml"))
    assert loaded.spec is not None, loaded.problems
    return loaded.spec


def plan_of(text: str, *, seed: int | None = None) -> Plan:
    """The plan of BASE and `text`."""
    spec = spec_of(text)
    arms = resolve_arms(spec, canonical)
    return make_plan(spec, arms, spec_sha256=sha256_of((BASE + text).encode()), seed=seed)
