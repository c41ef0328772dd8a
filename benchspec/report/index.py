"""One page over many reports: what was asked, how it ended, and a link to each."""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.judge.result import Verdicts
from benchspec.report.html import render_page
from benchspec.report.parts import STATES
from benchspec.report.text import one_line


@dataclass(frozen=True)
class Entry:
    """One report: where it lies relative to the index, and what its verdicts say."""

    href: str
    title: str
    date: str
    audited: bool
    tally: tuple[tuple[str, str, int], ...]
    unfinished: int


def entry(href: str, date: str, verdicts: Verdicts) -> Entry:
    """An entry from a bundle's verdicts; `date` is the day of the run, or empty."""
    registered = [h.verdict for h in verdicts.hypotheses if not h.exploratory]
    return Entry(
        href=href,
        title=one_line(verdicts.study),
        date=date,
        audited=verdicts.origin != "run",
        tally=tuple((s, w, registered.count(s)) for s, (w, _) in STATES.items() if s in registered),
        unfinished=len(verdicts.unfinished),
    )


def render_index(entries: list[Entry], title: str) -> bytes:
    """The index as one self-contained page, newest first."""
    newest_first = sorted(entries, key=lambda e: (e.date, e.href), reverse=True)
    return render_page("index.html.j2", entries=newest_first, title=title)
