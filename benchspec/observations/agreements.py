"""How far the answers of two arms to the same prompts agree, from the digests in the journal.

Two answers share their beginning up to the last digest that both have, and part before the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from benchspec.observations.answers import Agreement
from benchspec.observations.node import Bounds, Number
from benchspec.store.records import CellRecord, RequestRecord

_Cells = dict[str, dict[tuple[object, ...], CellRecord]]
"""Arm -> place and repeat -> the cell there."""

Pair = tuple[RequestRecord, RequestRecord]
"""What two arms answered to one prompt."""


def agreements(cells: Sequence[CellRecord]) -> list[Agreement]:
    """One for every two arms that answered the same prompts, or that both drafted tokens, at the
    same place in the same repeat."""
    by_arm: _Cells = {}
    for cell in cells:
        if cell.state == "done":
            by_arm.setdefault(cell.key.arm, {})[_place(cell)] = cell
    found = [_agreement(by_arm, *arms) for arms in combinations(by_arm, 2)]
    return [one for one in found if one.common_prefix_tokens or one.whole_tokens or one.acceptance]


def _place(cell: CellRecord) -> tuple[object, ...]:
    return tuple(cell.key.model_dump(exclude={"id", "arm"}).values())


def _agreement(by_arm: _Cells, one: str, other: str) -> Agreement:
    shared = [(c, by_arm[other][p]) for p, c in by_arm[one].items() if p in by_arm[other]]
    parted: list[Number] = []
    whole: list[int] = []
    for a, b in (pair for cells in shared for pair in _same_prompts(*cells)):
        if a.output_sha256 == b.output_sha256:
            whole.append(min(_tokens(a), _tokens(b)))
        else:
            parted.append(common_tokens(a, b))
    sides = [_acceptance(side) for side in zip(*shared, strict=True)]
    return Agreement(
        arms=[one, other],
        common_prefix_tokens=parted,
        whole_tokens=whole,
        acceptance=[share for share in sides if share is not None] if None not in sides else [],
    )


def _same_prompts(one: CellRecord, other: CellRecord) -> Iterator[Pair]:
    """The answers to equal prompts; where one was asked several times, in the order of asking."""
    left: dict[str, list[RequestRecord]] = {}
    for request in _comparable(other):
        left.setdefault(request.prompt_sha256 or "", []).append(request)
    for request in _comparable(one):
        if asked := left.get(request.prompt_sha256 or ""):
            yield request, asked.pop(0)


def _comparable(cell: CellRecord) -> list[RequestRecord]:
    return [
        r
        for r in cell.requests
        if r.ok and r.prompt_sha256 and r.output_sha256 and r.completion_tokens
    ]


def common_tokens(one: RequestRecord, other: RequestRecord) -> Number:
    """The tokens with which two answers begin alike, for answers that are not the same.

    Every event has at least one token, so they are no fewer than the events in the characters that
    both certainly have. They are no more than the events that end before the next digest, which
    differs, and the tokens that the server counts beyond one per event, nor than the shorter answer.
    """
    a, b = one.output_prefixes or [], other.output_prefixes or []
    same = [x[1] == y[1] for x, y in zip(a, b, strict=False)]
    shared = same.index(False) if False in same else len(same)
    low = max(a[shared - 1][0], b[shared - 1][0]) if shared else 0
    high = min(_tokens(one), _tokens(other))
    if shared < len(same):
        high = min(high, a[shared][0] + _spare(one), b[shared][0] + _spare(other))
    return float(low) if high <= low else Bounds(low=low, high=high)


def _spare(request: RequestRecord) -> int:
    """Tokens beyond one per event: in which events they came is not known."""
    return max(0, _tokens(request) - request.samples_count)


def _tokens(request: RequestRecord) -> int:
    return request.completion_tokens or 0


def _acceptance(cells: Iterable[CellRecord]) -> float | None:
    """All accepted / all drafted tokens of the answered requests."""
    drafted = [r for c in cells for r in c.requests if r.ok and r.accepted_tokens is not None]
    total = sum(r.draft_tokens or 0 for r in drafted)
    return sum(r.accepted_tokens or 0 for r in drafted) / total if total else None
