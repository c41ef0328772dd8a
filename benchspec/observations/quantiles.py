"""Order statistics, in one definition for the whole program."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(values: Sequence[float], q: float) -> float:
    """The `q` quantile (0..1) of one or more values, linear between order statistics.

    Definition 7 of Hyndman and Fan, Sample quantiles in statistical packages (1996): the default
    of numpy and R. Raises ValueError when there are no values.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two. Raises ValueError when there are none."""
    return quantile(values, 0.5)
