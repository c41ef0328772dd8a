"""The bodies of a cell's requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchspec.engines.base import Endpoint, Engine, Found
from benchspec.load.conversation import Conversation
from benchspec.load.materials import MATERIALS
from benchspec.run.plan import PlannedCell
from benchspec.run.requests import RequestSource
from benchspec.store.records import LogFinding, RequestRecord
from tests.run.specs import plan_of


class Tokeniser(Engine):
    """A server of which only the tokeniser is asked: one token per character, or none."""

    def __init__(self, dialect: str = "completions", tokeniser: bool = True) -> None:
        self.endpoint = Endpoint("127.0.0.1", 1, False, "", dialect)
        self.argv: list[str] = []
        self._tokeniser = tokeniser

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exc: object) -> None: ...

    def alive(self, patience_s: float = 0.0) -> bool:
        return True

    def pids(self) -> list[int]:
        return []

    def read_back(self) -> Found:
        return Found(None, None, [], [], {})

    def trouble(self) -> list[LogFinding]:
        return []

    def counters(self) -> dict[str, float]:
        return {}

    def token_ids(self, text: str) -> list[int] | None:
        return [ord(char) for char in text] if self._tokeniser else None


def source(engine: Engine, folder: Path = Path()) -> RequestSource:
    return RequestSource(engine, kind="llama.cpp", model=None, spec_sha256="s" * 64, folder=folder)


def cells(text: str) -> list[PlannedCell]:
    return plan_of(text + "order: fixed\n").cells


def prompts(found: Sequence[bytes]) -> list[Any]:
    return [json.loads(body)["prompt"] for body in found]


def test_prompts_have_the_length_that_the_servers_tokeniser_counts() -> None:
    (cell,) = cells("workload: {prompt: {tokens: 40}}\nload: {concurrency: [3]}\n")
    assert [len(one) for one in prompts(source(Tokeniser()).bodies(cell, 3))] == [40] * 3


@pytest.mark.parametrize("material", MATERIALS)
def test_else_their_length_follows_the_servers_count_of_the_warm_up(material: str) -> None:
    (cell,) = cells(
        f"workload: {{label: {{material: {material}}}, prompt: {{tokens: 4000}}}}\n"
        "load: {concurrency: [1]}\n"
    )
    made = source(Tokeniser(tokeniser=False))
    (warm_up,) = prompts(made.bodies(cell, 1, "warm-up"))
    made.learn(RequestRecord(index=0, prompt_tokens=len(warm_up)))
    (prompt,) = prompts(made.bodies(cell, 1))
    assert len(prompt) == pytest.approx(4000, rel=0.05)


def test_conversations_share_nothing_but_what_was_said_in_them() -> None:
    (cell,) = cells(
        "workload: {turns: 3, prompt: {tokens: 40, shared_prefix: 10}}\n"
        "load: {concurrency: [2], requests: 6}\n"
    )
    one, other = source(Tokeniser()).work(cell, 6)
    assert isinstance(one, Conversation)
    assert isinstance(other, Conversation)
    assert len(set(one.prompts + other.prompts)) == 6
    assert one.prompts[0].split()[:8] == other.prompts[0].split()[:8]
    assert one.prompts[1].split()[0] != other.prompts[1].split()[0]
    second = json.loads(one.turn(["so it is"]))
    assert second["prompt"] == f"{one.prompts[0]}so it is\n\n{one.prompts[1]}"
    assert second["cache_prompt"] is True


def test_a_cold_conversation_reuses_nothing() -> None:
    (cell,) = cells("workload: {turns: 2}\nload: {concurrency: [1], requests: 2, cache: cold}\n")
    (one,) = source(Tokeniser()).work(cell, 2)
    assert isinstance(one, Conversation)
    assert json.loads(one.turn([]))["cache_prompt"] is False


def test_a_file_is_asked_line_by_line_in_conversations(tmp_path: Path) -> None:
    lines = [json.dumps({"prompt": str(number)}) for number in range(6)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    (cell,) = cells(
        "workload: {turns: 3, prompt: {file: p.jsonl}}\nload: {concurrency: [2], requests: 6}\n"
    )
    asked = [one.prompts for one in source(Tokeniser(), tmp_path).work(cell, 6)]  # type: ignore[union-attr]
    assert asked == [("0", "1", "2"), ("3", "4", "5")]


def test_arms_get_the_same_prompts_and_repeats_others() -> None:
    planned = cells(
        "arms: [{id: A, engine: {flags: {np: 1}}}, {id: B, engine: {flags: {np: 2}}}]\n"
        "load: {concurrency: [2]}\nrepeats: 2\n"
    )
    made = {cell.key.id: source(Tokeniser()).bodies(cell, 2) for cell in planned}
    assert made["A-c2-r1"] == made["B-c2-r1"] != made["A-c2-r2"] == made["B-c2-r2"]


def test_priming_sends_the_same_prompts_for_one_token() -> None:
    (cell,) = cells("load: {concurrency: [2], cache: warm}\n")
    made = source(Tokeniser())
    measured, primed = made.bodies(cell, 2), made.bodies(cell, 2, "prime")
    assert prompts(measured) == prompts(primed)
    assert {json.loads(body)["max_tokens"] for body in primed} == {1}


def test_all_of_the_sampling_is_sent() -> None:
    (cell,) = cells(
        "workload: {sampling: {temperature: 0.5, seed: 3, top_p: 0.9, top_k: 40}}\n"
        "load: {concurrency: [1]}\n"
    )
    (body,) = map(json.loads, source(Tokeniser()).bodies(cell, 1))
    assert (body["temperature"], body["seed"], body["top_p"], body["top_k"]) == (0.5, 3, 0.9, 40)


def test_prompts_of_a_file_are_taken_in_its_order(tmp_path: Path) -> None:
    lines = [json.dumps({"prompt": str(number)}) for number in range(5)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    planned = cells("workload: {prompt: {file: p.jsonl}}\nload: {concurrency: [3]}\nrepeats: 2\n")
    made = source(Tokeniser(), tmp_path)
    assert [prompts(made.bodies(cell, 3)) for cell in planned] == [list("012"), list("340")]


@pytest.mark.parametrize(
    ("prompt", "switch"),
    [("{tokens: 40}", False), ("{tokens: 40, shared_prefix: 20}", True)],
)
def test_a_beginning_that_is_shared_on_purpose_may_be_reused(prompt: str, switch: bool) -> None:
    (cell,) = cells(f"workload: {{prompt: {prompt}}}\nload: {{concurrency: [1], requests: 2}}\n")
    bodies = source(Tokeniser()).work(cell, 2)
    sent = [json.loads(one) for one in bodies if isinstance(one, bytes)]
    assert [one["cache_prompt"] for one in sent] == [switch] * 2
