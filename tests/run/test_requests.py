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


def warmed(made: RequestSource, cell: PlannedCell, engine: ServerCount) -> RequestSource:
    """After one warm-up, as the engine counts it."""
    sent = made.bodies(cell, 1, "warm-up")
    made.learn(
        [
            RequestRecord(index=place, prompt_tokens=engine.usage(text))
            for place, text in enumerate(texts(sent))
        ]
    )
    return made


def texts(found: Sequence[bytes]) -> list[str]:
    """The last thing that each body asks."""
    bodies = map(json.loads, found)
    return [b["messages"][-1]["content"] if "messages" in b else b["prompt"] for b in bodies]


class ServerCount(Tokeniser):
    """Adds `added` tokens, as a chat template does, to one token per character."""

    def __init__(self, dialect: str, added: int, tokeniser: bool = True) -> None:
        super().__init__(dialect, tokeniser)
        self._added = added

    def usage(self, text: str) -> int:
        return self._added + len(text)


@pytest.mark.parametrize("added", [0, 1, 300])
@pytest.mark.parametrize("dialect", ["completions", "chat"])
@pytest.mark.parametrize("material", MATERIALS)
def test_else_a_line_through_two_warm_ups_tells(material: str, dialect: str, added: int) -> None:
    """What the template adds is a sum: a factor would be 8 % off at 4000, and more elsewhere."""
    (first, other) = cells(
        f"workload: {{label: {{material: {material}}}}}\nload: {{context: [4000, 1500]}}\n"
    )
    engine = ServerCount(dialect, added, tokeniser=False)
    made = warmed(source(engine), first, engine)
    (text,) = texts(made.bodies(first, 1))
    assert engine.usage(text) == pytest.approx(4000, rel=0.05)
    (text,) = texts(made.bodies(other, 1))
    assert engine.usage(text) == pytest.approx(1500, rel=0.07)


def test_a_count_that_does_not_grow_is_a_factor() -> None:
    (cell,) = cells("workload: {prompt: {tokens: 100}}\nload: {concurrency: [1]}\n")
    made = source(Tokeniser("chat", tokeniser=False))
    probe, full = texts(made.bodies(cell, 1, "warm-up"))
    assert len(probe.split()) == 3
    made.learn([RequestRecord(index=place, prompt_tokens=200) for place in (0, 1)])
    (text,) = texts(made.bodies(cell, 1))
    assert len(text.split()) == pytest.approx(len(full.split()) / 2, abs=1)


@pytest.mark.parametrize("material", MATERIALS)
def test_a_chat_message_is_cut_to_what_the_template_leaves(material: str) -> None:
    (cell,) = cells(
        f"workload: {{label: {{material: {material}}}, prompt: {{tokens: 64}}}}\n"
        "load: {concurrency: [3]}\n"
    )
    engine = ServerCount("chat", 31)
    made = warmed(source(engine), cell, engine)
    sent = texts(made.bodies(cell, 3))
    assert [engine.usage(text) for text in sent] == [64] * 3
    assert len(set(sent)) == 3
    assert texts(made.bodies(cell, 3, "prime")) == sent
    assert made.too_short(cell) is None


def test_a_later_turn_adds_text_of_the_length_asked_for() -> None:
    (cell,) = cells(
        "workload: {turns: 3, prompt: {tokens: 64}}\nload: {concurrency: [2], requests: 6}\n"
    )
    engine = ServerCount("chat", 31)
    for one in warmed(source(engine), cell, engine).work(cell, 6):
        assert isinstance(one, Conversation)
        assert list(map(len, one.prompts)) == [64 - 31, 64, 64]


def test_a_length_that_the_template_alone_exceeds_is_told_once() -> None:
    (cell,) = cells("workload: {prompt: {tokens: 31}}\nload: {concurrency: [1]}\n")
    engine = ServerCount("chat", 31)
    made = warmed(source(engine), cell, engine)
    told = made.too_short(cell) or ""
    assert told.startswith(
        "Prompts of 31 tokens cannot be made: the server itself adds 31 to a text"
    )
    assert "Ask for 32 or more" in told
    assert made.too_short(cell) is None
    assert list(map(len, texts(made.bodies(cell, 1)))) == [1]


def test_conversations_share_nothing_but_what_was_said_in_them() -> None:
    (cell,) = cells(
        "workload: {turns: 3, prompt: {tokens: 40, shared_prefix: 10}}\n"
        "load: {concurrency: [2], requests: 6}\n"
    )
    one, other = source(Tokeniser()).work(cell, 6)
    assert isinstance(one, Conversation)
    assert isinstance(other, Conversation)
    assert len(set(one.prompts + other.prompts)) == 6
    assert one.prompts[0][:10] == other.prompts[0][:10]
    assert one.prompts[0][10:18] != other.prompts[0][10:18]
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
