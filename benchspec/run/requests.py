"""The requests of a cell: prompts that no other request of the run shares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from benchspec.engines.base import Engine
from benchspec.load.conversation import Conversation
from benchspec.load.driver import Work
from benchspec.load.prompts import (
    MAX_JSONL_BYTES,
    PromptShape,
    make_prompts,
    prompts_from_jsonl,
)
from benchspec.load.target import Prompt, Sampling, request_body
from benchspec.run.lengths import PROBE_PIECES, Lengths
from benchspec.run.plan import PlannedCell
from benchspec.store.files import read_whole
from benchspec.store.records import RequestRecord

Purpose = Literal["measure", "warm-up", "prime"]


class RequestSource:
    """Makes the bodies for one engine start.

    `kind` and `model` are the engine's kind and the name of the model to ask for (None where one
    server has one model). Prompts have an exact length where the engine tells its token ids, less
    what the server adds to a text (`Lengths`); otherwise the length follows the server's own count
    of the warm-up.
    """

    def __init__(
        self, engine: Engine, *, kind: str, model: str | None, spec_sha256: str, folder: Path
    ) -> None:
        self._engine = engine
        self._kind = kind
        self._model = model
        self._label = spec_sha256[:16]
        self._folder = folder
        self._lengths = Lengths(engine.token_ids)
        self._told: set[int] = set()

    def work(self, cell: PlannedCell, count: int) -> Sequence[Work]:
        """`count` requests to measure: bodies, or conversations of so many turns together.

        Raises UsageError for a prompt file that cannot be used, EngineFailure for a tokeniser that
        does not count.
        """
        turns = cell.work.turns
        if turns == 1:
            return self.bodies(cell, count)
        ask = self._ask(cell, "measure")
        return [
            Conversation(tuple(map(str, prompts)), ask)
            for prompts in self._conversations(cell, math.ceil(count / turns))
        ]

    def bodies(self, cell: PlannedCell, count: int, purpose: Purpose = "measure") -> list[bytes]:
        """`count` bodies. `prime` gives the prompts that `measure` will send, with one token of
        answer, to fill a prefix cache; `warm-up` gives others, and before them a very short one
        where nothing but the server's count tells how long a text is. Raises as `work` does.
        """
        if purpose != "warm-up":
            return list(map(self._ask(cell, purpose), self._prompts(cell, count, "measure")))
        probe, prompts = self._probe(cell), self._prompts(cell, count, "warm-up")
        made = [] if cell.work.prompt_file else [*probe, *prompts]
        self._lengths.sent(cell.work.material, cell.work.prompt_tokens, made)
        return [
            *map(self._ask(cell, "prime"), probe),
            *map(self._ask(cell, purpose), prompts),
        ]

    def learn(self, answered: Sequence[RequestRecord]) -> None:
        """Take the length of later text prompts from what the server counted for the warm-up."""
        self._lengths.learn([(o.index, o.prompt_tokens) for o in answered if o.prompt_tokens])

    def too_short(self, cell: PlannedCell) -> str | None:
        """A sentence, once for each length, where the server adds more to a text than is asked for."""
        asked, added = cell.work.prompt_tokens, self._lengths.overhead or 0
        if asked > added or asked in self._told or cell.work.prompt_file or self._as_ids(cell):
            return None
        self._told.add(asked)
        return (
            f"Prompts of {asked} tokens cannot be made: the server itself adds {added} to a text (a chat "
            f"template, a first token), so they hold one token of text. Ask for {added + 1} or more, or "
            "use `engine.endpoint: completions`."
        )

    def _conversations(self, cell: PlannedCell, count: int) -> Sequence[Sequence[Prompt]]:
        """What is asked in each; only the first turns share a prefix on purpose."""
        work = cell.work
        if work.prompt_file is not None:
            prompts = self._from_file(work.prompt_file, count * work.turns, cell.key.repeat)
            return [prompts[n : n + work.turns] for n in range(0, len(prompts), work.turns)]
        first = self._prompts(cell, count, "measure")
        later = replace(cell, work=replace(work, shared_prefix=0))
        rest = [self._prompts(later, count, f"turn {turn}") for turn in range(2, work.turns + 1)]
        return list(zip(first, *rest, strict=True))

    def _as_ids(self, cell: PlannedCell) -> bool:
        """Whether prompts are token ids. A conversation goes on with the answer's text, so its
        prompts are text, too, as are messages of a chat."""
        alone = self._engine.endpoint.dialect == "completions" and cell.work.turns == 1
        return alone and self._counts()

    def _counts(self) -> bool:
        return self._engine.token_ids("a") is not None

    def _probe(self, cell: PlannedCell) -> list[Prompt]:
        """The short one of two lengths, where a line through both is all that tells of them."""
        work = cell.work
        if work.prompt_file is not None or self._counts():
            return []
        shape = PromptShape(PROBE_PIECES, material=work.material)
        return make_prompts(
            1, shape, label=f"{self._label} length", seed=self._seed(cell), tokens_per_piece=1.0
        )

    def _prompts(self, cell: PlannedCell, count: int, purpose: str) -> Sequence[Prompt]:
        """A later turn adds a text of its own of the length asked for to what was said before it; in
        all others the length is that of the prompt as the server counts it."""
        work = cell.work
        if work.prompt_file is not None:
            return self._from_file(work.prompt_file, count, cell.key.repeat)
        as_ids, added_to = self._as_ids(cell), purpose.startswith("turn")
        tokens = (
            work.prompt_tokens if as_ids or added_to else self._lengths.content(work.prompt_tokens)
        )
        return make_prompts(
            count,
            PromptShape(tokens, work.unique, work.shared_prefix, work.material),
            label=f"{self._label} {purpose} {'' if purpose == 'warm-up' else cell.prompts}",
            seed=self._seed(cell),
            token_ids=self._engine.token_ids,
            tokens_per_piece=self._lengths.tokens_per_piece.get(work.material),
            as_text=not as_ids,
        )

    def _seed(self, cell: PlannedCell) -> int:
        return cell.key.repeat if cell.key.seed is None else cell.key.seed

    def _from_file(self, name: str, count: int, repeat: int) -> list[str]:
        """In the file's order; every repeat goes on where the one before it ended."""
        prompts = prompts_from_jsonl(read_whole(self._folder / name, MAX_JSONL_BYTES), name)
        start = (repeat - 1) * count % len(prompts)
        return list(itertools.islice(itertools.cycle(prompts), start, start + count))

    def _ask(self, cell: PlannedCell, purpose: Purpose) -> Callable[..., bytes]:
        """Makes the body that asks for a prompt."""
        work = cell.work
        return partial(
            request_body,
            self._engine.endpoint.dialect,
            sampling=Sampling(
                max_tokens=1 if purpose == "prime" else work.max_tokens,
                forced=work.forced,
                temperature=work.sampling.temperature,
                seed=work.sampling.seed if cell.key.seed is None else cell.key.seed,
                top_p=work.sampling.top_p,
                top_k=work.sampling.top_k,
            ),
            engine=self._kind,
            model=self._model,
            cache_prompt=_cache_prompt(cell),
        )


def _cache_prompt(cell: PlannedCell) -> bool | None:
    """llama.cpp's switch for reusing a prompt: off when cold and for prompts that share nothing,
    on when warm, in a conversation, or for prompts that share their beginning on purpose; else its
    default."""
    if cell.key.cache is not None:
        return cell.key.cache == "warm"
    if cell.work.turns > 1 or cell.work.shared_prefix:
        return True
    return False if cell.work.unique else None
