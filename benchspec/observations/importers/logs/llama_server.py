"""What llama-server prints of each request when it ends, in four generations. Pure.

1. JSON: `{"function":"print_timings", ..., "msg":"generation eval time = ..."}`;
2. `INFO [print_timings] generation eval time = ... | tid="1" timestamp=1 id_slot=0 id_task=0`;
3. `slot print_timing: id 0 | task 0 |`, and the figures on lines below that name no slot;
4. every line with `slot print_timing: id 0 | task 100 |`.

Below a header of the third kind the figures belong to the one block that is open. Where a second
slot's header comes in between they could be either's, and both blocks are left out. A router puts
`[port or pid]` before what each of its servers prints. The time of a line says when a request ended,
but not when it was sent, since its wait for a slot is in none of the figures.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchspec.observations.importers.logs.found import (
    Found,
    between,
    number,
    present,
    step,
    whole,
)
from benchspec.observations.importers.logs.llama_cpp_cli import MARKS as OF_THE_CLI
from benchspec.observations.importers.logs.llama_cpp_timing import Timing, timing

_SERVER = re.compile(r"^\[(\d{1,10})\]")
_SLOT = re.compile(r"slot +print_timings?: id +(\d{1,9}) \| task +(-?\d{1,15}) \|(.*)")
_NAMED = re.compile(r"id_slot=(\d{1,9}) id_task=(-?\d{1,15})")
_DRAFT = re.compile(
    r"draft acceptance(?: rate)? = +[\d.,]+ \( *(\d{1,15}) accepted / +(\d{1,15}) generated\)"
    r"(?:, mean len = +([\d.,]{1,20}))?"
)
_PROGRESS = re.compile(r"\bn_gen = +\d+, tg = |\bn_decoded = +\d+, tg = ")
_NONE = Timing("", None, None, None)
_NEAR = 20
"""Lines after which a block that has no end will not get one: something dropped its lines."""


@dataclass
class _Block:
    """The figures of one request. `lost`: another slot's may be among them."""

    parts: dict[str, Timing] = field(default_factory=dict)
    accepted: int | None = None
    drafted: int | None = None
    mean_len: float | None = None
    lost: bool = False
    slot: str = ""
    begun: int = 0

    def request(self) -> dict[str, Any]:
        answer = self.parts.get("eval", _NONE)
        return present(
            tokens=answer.n,
            self_reported_tok_s=answer.rate,
            server_prefill_ms=self.parts.get("prompt eval", _NONE).ms,
            draft_tokens=self.drafted,
            accepted_tokens=self.accepted,
        )


@dataclass
class _Reader:
    blocks: list[_Block] = field(default_factory=list)
    named: dict[tuple[str, ...], _Block] = field(default_factory=dict)
    below: dict[str, list[_Block]] = field(default_factory=lambda: defaultdict(list))
    progress: bool = False
    line: int = 0

    def take(self, line: str) -> None:
        """Put what a line says into the block that it belongs to."""
        self.line += 1
        server = _SERVER.match(line)
        who = server[1] if server else ""
        slot = _SLOT.search(line)
        if slot:
            self._of_slot(who, slot)
        elif "print_timings" in line:
            self._older(who, line)
        elif self.below[who]:
            self._without_slot(self.below[who], line)

    def _of_slot(self, who: str, slot: re.Match[str]) -> None:
        if slot[3].strip():
            self._put((who, slot[1], slot[2]), slot[3])
            return
        block = _Block(slot=slot[1], begun=self.line)
        self.blocks.append(block)
        unfinished = [one for one in self.below[who] if self._goes_on(one, block)]
        for one in (*unfinished, block):
            one.lost = bool(unfinished)
        self.below[who] = [*unfinished, block]

    def _goes_on(self, one: _Block, new: _Block) -> bool:
        """Whether lines of `one` may come below the header of `new`."""
        near = new.begun - one.begun <= _NEAR
        return near and one.slot != new.slot and "total" not in one.parts

    def _older(self, who: str, line: str) -> None:
        """Generations one and two, which name the function in the line itself."""
        if line.lstrip().startswith("{"):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                return
            ids = (record.get(name, record.get(old)) for name, old in _IDS)
            self._put((who, *map(str, ids)), str(record.get("msg")))
        elif "print_timings]" in line:
            ids_of = _NAMED.search(line)
            self._put((who, *(ids_of.groups() if ids_of else ())), line)

    def _put(self, key: tuple[str, ...], text: str) -> None:
        """Into the block of a slot and task; a figure that it has begins the next one."""
        if _PROGRESS.search(text):
            self.progress = True
            return
        one, draft = timing(text), _DRAFT.search(text)
        if one is None and draft is None:
            return
        block = self.named.get(key)
        if block is None or (one is not None and one.kind in block.parts):
            block = self.named[key] = _Block()
            self.blocks.append(block)
        _fill(block, one, draft)

    def _without_slot(self, open_: list[_Block], line: str) -> None:
        one, draft = timing(line), _DRAFT.search(line)
        if one is None and draft is None:
            return
        block = open_[0]
        if one is not None and one.kind in block.parts:
            block.lost = True
        _fill(block, one, draft)
        if len(open_) > 1 and one is not None and one.kind == "total":
            open_.pop(0)


_IDS = (("id_slot", "slot_id"), ("id_task", "task_id"))


def _fill(block: _Block, one: Timing | None, draft: re.Match[str] | None) -> None:
    if one is not None:
        block.parts[one.kind] = one
    if draft is not None:
        block.accepted, block.drafted = whole(draft[1]), whole(draft[2])
        block.mean_len = number(draft[3])


def read(lines: Iterable[str]) -> Found:
    """One step with a request for each that ended."""
    reader, found = _Reader(), Found()
    for line in lines:
        if not any(mark in line for mark in OF_THE_CLI):
            reader.take(line)
    kept = [block for block in reader.blocks if not block.lost and block.request()]
    if lost := sum(block.lost for block in reader.blocks):
        found.leave_out(f"{lost} requests whose lines lie between another slot's")
    if reader.progress:
        found.leave_out("lines about requests that were not finished (n_gen, tg, tg_3s)")
    if kept:
        _conclude(found, kept)
    return found


def _conclude(found: Found, blocks: list[_Block]) -> None:
    lengths = [block.mean_len for block in blocks if block.drafted]
    step(
        found,
        [block.request() for block in blocks],
        "llama-server's own timings of each request, its averages over the request",
        prefill_tok_s=between(b.parts.get("prompt eval", _NONE).rate for b in blocks),
        tokens_per_round=None if None in lengths else between(lengths),
    )
    found.leave_out("total time; prompt tokens, of which cached ones are not counted; line times")
    found.leave_out("graphs reused, which adds up over requests")
