"""What the times of answers say about how many were served at once. Pure arithmetic on lists.

Overlap: sum of the decode intervals / length of their union = how many decoded at once on average.
Clusters: completions are cut where a gap exceeds half the time of the first completion.
Waves: with f = mean in flight / C, a burst of equal requests served in w batches has f = (w+1)/2w,
so w = 1 / (2 f - 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from benchspec.judge import figures
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

Intervals = Sequence[tuple[float, float]]


def overlap(intervals: Intervals) -> float | None:
    """Sum of the intervals / length of their union; None when they have no length."""
    total = math.fsum(end - start for start, end in intervals)
    covered, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total / covered if covered > 0 else None


def depth(intervals: Intervals) -> int:
    """The largest number of intervals that hold at one moment; touching ends do not overlap."""
    changes = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    deepest = now = 0
    for _, change in changes:
        now += change
        deepest = max(deepest, now)
    return deepest


def cluster_sizes(completions: Sequence[float]) -> list[int]:
    """How many completions came together, in order. `completions` ascend, seconds from dispatch."""
    if not completions:
        return []
    gap = limit("shape.gap") * completions[0]
    sizes = [1]
    for earlier, later in pairwise(completions):
        if later - earlier > gap:
            sizes.append(0)
        sizes[-1] += 1
    return sizes


def batch_size(sizes: Sequence[int]) -> int | None:
    """The common size of all clusters but the last, which may be smaller; None if there is none."""
    if len(sizes) < 2 or len(set(sizes[:-1])) != 1 or sizes[-1] > sizes[0]:
        return None
    return sizes[0]


def in_flight_share(step: Step) -> float | None:
    """f: mean number in flight / C = sum of latencies / T / C, for a burst."""
    wall, latencies = figures.wall_s(step), figures.latencies_s(step)
    if wall is None or not step.concurrency or len(latencies) != step.concurrency:
        return None
    return math.fsum(latencies) / wall.mid / step.concurrency if wall.low > 0 else None


def waves(share: float | None) -> float | None:
    """w = 1 / (2 f - 1); None where f <= 1/2, which no number of batches gives."""
    return 1 / (2 * share - 1) if share is not None and share > 0.5 else None


def equal_lengths(step: Step) -> bool | None:
    """Whether the answers have the same number of tokens (sd <= 2 % of the mean); None: unknown."""
    counts = [r.tokens for r in figures.succeeded(step)]
    known = [c for c in counts if c is not None]
    if not known or len(known) < len(counts):
        return None
    mean = sum(known) / len(known)
    spread = (sum((c - mean) ** 2 for c in known) / len(known)) ** 0.5
    return bool(spread <= limit("shape.equal") * mean)


def first_wave(step: Step) -> int | None:
    """How many first tokens came before the first jump by half of the first completion: S of a burst
    whose answers may differ in length. None without a jump, or where a first token is not known."""
    ends, answered = figures.completions_s(step), figures.succeeded(step)
    firsts = sorted(r.first_token_s for r in answered if r.first_token_s is not None)
    if not ends or len(firsts) < len(answered):
        return None
    wave = cluster_sizes([ends[0], *(ends[0] + first for first in firsts)])
    return wave[0] - 1 if len(wave) > 1 else None


def inferred_slots(step: Step, forced: bool | None) -> int | None:
    """S from a burst: the size of its batches where answers are equally long, else its first wave."""
    if step.mode == "sustained" or figures.defect(step):
        return None
    equal = forced and equal_lengths(step) is not False
    size = batch_size(cluster_sizes(figures.completions_s(step))) if equal else None
    return size or first_wave(step)
