"""When requests arrive in an open loop: a schedule fixed before the run, from a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import accumulate, islice, repeat, takewhile

from benchspec.errors import UsageError

MAX_ARRIVALS = 1_000_000


def schedule_ns(
    arrival: str,
    rate_per_s: float,
    *,
    seed: int,
    requests: int | None = None,
    duration_s: float | None = None,
    shape: float | None = None,
) -> list[int]:
    """Arrival moments in ns from the start, ascending, one gap after the start and after another.

    `constant` has equal gaps, `poisson` exponential ones, `gamma` gaps of the given `shape` (1 is
    poisson, below 1 burstier, above 1 more regular), all with mean 1 / `rate_per_s`. It ends with
    `requests` arrivals or at `duration_s`, whichever comes first.
    Raises UsageError for values that give no schedule or more than a million arrivals.
    """
    if not 0 < rate_per_s < math.inf:
        raise UsageError(f"an arrival rate must be above zero, not {rate_per_s:g} per second")
    if requests is None and duration_s is None:
        raise UsageError("an open loop needs a number of requests or a duration")
    gaps = _gaps_s(arrival, rate_per_s, random.Random(f"arrivals {arrival} {seed}"), shape)
    moments: Iterator[float] = accumulate(gaps)
    if duration_s is not None:
        moments = takewhile(lambda moment: moment <= duration_s, moments)
    limit = MAX_ARRIVALS + 1 if requests is None else requests
    schedule = [round(moment * 1e9) for moment in islice(moments, limit)]
    if len(schedule) > MAX_ARRIVALS:
        raise UsageError(f"the schedule has more than {MAX_ARRIVALS} arrivals")
    return schedule


def _gaps_s(
    arrival: str, rate_per_s: float, rng: random.Random, shape: float | None
) -> Iterator[float]:
    mean_s = 1 / rate_per_s
    if arrival == "constant":
        return repeat(mean_s)
    if arrival == "poisson":
        return (-math.log1p(-rng.random()) * mean_s for _ in repeat(None))
    if arrival == "gamma":
        if shape is None or not 0 < shape < math.inf:
            raise UsageError("gamma arrivals need a shape above zero (1 is poisson)")
        return (rng.gammavariate(shape, mean_s / shape) for _ in repeat(None))
    raise UsageError(
        f"there is no arrival process {arrival!r}", hint="use constant, poisson or gamma"
    )
