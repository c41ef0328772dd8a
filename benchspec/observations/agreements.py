"""How far the answers of two arms to the same prompts agree, from the digests in the journal.

An event of a stream ends where a token ends, so two answers share their beginning up to the last
event end where both have the same digest; after it, they part within the next event of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from benchspec.observations.model import Agreement, Bounds, Number
from benchspec.store.records import PREFIX_CHARS, CellRecord, RequestRecord

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

    With the last common digest after event i of one and j of the other it is at least max(i, j),
    since every event has a token. A token on which both still agree, further on, ends no event of
    one of the two, and an answer has only so many such tokens as the server counts beyond one per
    event: so it is at most min(i, j) and these of both. It is never more than the shorter answer,
    and where the digests end too soon to say more, that is all.
    """
    a, b = _prefixes(one), _prefixes(other)
    ends = {digest: number for number, digest in enumerate(b, 1)}
    shared = [(number, ends[digest]) for number, digest in enumerate(a, 1) if digest in ends]
    i, j = shared[-1] if shared else (0, 0)
    low = max(i, j)
    high = min(_tokens(one), _tokens(other))
    if not (_cut(one, len(a) - i, _spare(other)) or _cut(other, len(b) - j, _spare(one))):
        high = min(high, min(i, j) + _spare(one) + _spare(other))
    return float(low) if high <= low else Bounds(low=low, high=high)


def _prefixes(request: RequestRecord) -> list[str]:
    kept = request.output_prefixes or ""
    return [kept[at : at + PREFIX_CHARS] for at in range(0, len(kept), PREFIX_CHARS)]


def _cut(request: RequestRecord, unshared: int, hidden: int) -> bool:
    """Whether an answer goes on where its digests end, and the other may agree up to there: it has
    `hidden` tokens that end no event, for the `unshared` digests after the last common one."""
    whole = len(_prefixes(request)) >= request.samples_count
    return not whole and unshared <= hidden


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
