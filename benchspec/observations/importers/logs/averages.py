"""Figures that an engine logs every few seconds, as series: each is an average over its interval. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from benchspec.observations.importers.logs.found import Fields, Found, first_number, rounded


@dataclass
class _Track:
    values: list[float] = field(default_factory=list)
    times: list[float | None] = field(default_factory=list)


@dataclass
class Averages:
    """Samples by who printed them (an engine of several, a rank) and counter, in the log's order."""

    fields: Fields
    tracks: dict[tuple[str, str], _Track] = field(default_factory=dict)
    first: float | None = None

    def add(self, who: str, at_s: float | None, printed: dict[str, str]) -> dict[str, float]:
        """Keep the figures of one line, printed at `at_s`; by counter, what they are."""
        if self.first is None:
            self.first = at_s
        found: dict[str, float] = {}
        for name, (counter, _) in self.fields.items():
            value = first_number(printed.get(name))
            if value is not None:
                track = self.tracks.setdefault((who, counter), _Track())
                track.values.append(value)
                track.times.append(at_s)
                found[counter] = value
        return found

    def most(self, counter: str) -> float | None:
        """The largest value of a counter by anyone; None where it was never printed."""
        found = [max(t.values) for (_, name), t in self.tracks.items() if name == counter]
        return max(found, default=None)

    def into(self, found: Found, source: str) -> None:
        """One series per counter, with its interval where the lines say when they were printed."""
        units = dict(self.fields.values())
        for (who, counter), track in self.tracks.items():
            said = f"{source}, {who}" if who else source
            one: dict[str, Any] = {"counter": counter, "unit": units[counter], "source": said}
            found.series.append(one | self._timed(track) | {"values": track.values})

    def _timed(self, track: _Track) -> dict[str, Any]:
        """When the samples were taken, from the log's first line, and over what they are averages.

        Without the year a log that runs into the next one goes backwards: then no times are known.
        """
        times = [at for at in track.times if at is not None]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        if self.first is None or len(times) < len(track.times) or min(gaps, default=0) < 0:
            return {}
        listed: dict[str, Any] = {"times_s": [rounded(at - self.first) for at in times]}
        interval = statistics.median(gaps) if gaps else 0
        if interval > 0:
            listed |= {"interval_s": interval, "window_s": interval, "statistic": "mean"}
        return listed
