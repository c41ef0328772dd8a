"""The pieces that a page is made of; every word and number in them is final."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchspec.judge.result import VerdictWord

STATES: dict[VerdictWord, tuple[str, str]] = {
    "supported": ("Supported", "the registered test held"),
    "refuted": ("Refuted", "the registered test failed"),
    "inconclusive": ("Inconclusive", "the data cannot decide it"),
    "invalid": ("Invalid", "the data must not be used for it"),
    "not-run": ("Not run", "nothing was measured for it"),
}
"""Verdict -> (the word on the page, what it means). Shapes and colours: macros and style sheet."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table; `note` is small print behind the text, `href` an anchor on the page."""

    text: str
    provenance: str | None = None
    note: str | None = None
    href: str | None = None
    anchor: str | None = None
    code: bool = False


@dataclass(frozen=True)
class Table:
    """`numeric` holds the columns to align right; the first column is each row's header."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: frozenset[int] = frozenset()
    note: str | None = None


@dataclass(frozen=True)
class Pair:
    """A label and its value, as in a list of facts."""

    label: str
    value: str
    provenance: str | None = None
    code: bool = False


@dataclass(frozen=True)
class Ingredient:
    """Numbers that were divided and came from one place: `T(4) = 15.6 s, S = 4 [measured: …]`."""

    numbers: tuple[tuple[str, str], ...]
    provenance: str
    source: str | None = None


@dataclass(frozen=True)
class GateView:
    reading: str
    then: str
    cost: str | None
    arithmetic: str | None
    hypothesis: str
    anchor: str


@dataclass(frozen=True)
class Reference:
    """A link to a check on this page."""

    text: str
    href: str


@dataclass(frozen=True)
class VerdictCard:
    id: str
    anchor: str
    claim: str
    because: str | None
    state: str
    word: str
    meaning: str
    test: str | None
    division: str | None
    reason: str
    predicted: str | None
    measured: str | None
    provenance: str
    range: str | None
    error: str | None
    repeats: str | None
    ingredients: tuple[Ingredient, ...]
    many_numbers: int | None
    """How many numbers, where they are too many to read past; they are then folded."""
    rests_on: tuple[Reference, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """A line of "What this didn't finish", with the hypothesis or check that it is about."""

    text: str
    about: Reference | None = None


@dataclass(frozen=True)
class ItemGroup:
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class CheckView:
    """One result of a check: a row in its table, and the numbers behind it."""

    anchor: str
    place: str
    state: str
    reading: str
    division: str | None
    value: str
    spread: str
    quotable: str
    why: str | None
    caveats: tuple[str, ...]
    ingredients: tuple[Ingredient, ...]


@dataclass(frozen=True)
class CheckGroup:
    """All results of one check; `overview` counts its readings, `short` ones need no folding."""

    name: str
    anchor: str
    overview: str
    short: bool
    results: tuple[CheckView, ...]


@dataclass(frozen=True)
class OrderView:
    """One question of "In this order", and what the checks say to it."""

    question: str
    state: str
    answers: tuple[Item, ...]


@dataclass(frozen=True)
class Shared:
    """What all arms have in common in one part of the spec."""

    room: str
    facts: tuple[Pair, ...]


@dataclass(frozen=True)
class Comparison:
    arms: tuple[Pair, ...]
    differs: Table | None
    trade: Table | None
    equal: tuple[Shared, ...]


@dataclass(frozen=True)
class Method:
    sentences: tuple[str, ...]
    instrument: Table | None
    instrument_note: str


@dataclass(frozen=True)
class Setup:
    hardware: Table | None
    devices: Table | None
    host: tuple[Pair, ...]
    model: tuple[Pair, ...]
    engines: tuple[Pair, ...]
    settings: Table | None
    log: Table | None
    versions: tuple[Pair, ...]


@dataclass(frozen=True)
class InRange:
    """The bands that a rerun must hit; without a table `missing` says why there is none."""

    table: Table | None
    missing: str | None
    command: str
    prompts: str | None


@dataclass(frozen=True)
class Data:
    """`counters` is over repeats, `counter_repeats` of each of them, where there are several."""

    steps: Table | None
    counters: Table | None
    counter_repeats: Table | None
    counter_sources: Table | None
    evidence: Table | None
    commands: tuple[str, ...]
    digests: tuple[Pair, ...]
    spec_text: str


@dataclass(frozen=True)
class Citation:
    sentence: str
    bibtex: str


@dataclass(frozen=True)
class Answer:
    """A verdict in one line: `basis` is its division, or why there is none."""

    anchor: str
    state: str
    word: str
    claim: str
    basis: str


@dataclass(frozen=True)
class Headline:
    """`short` is the title on one line, for a page's running header; `summary` is one sentence for
    where only one fits; `open_point` is the first of `open_points` that are not finished."""

    title: str
    short: str
    question: str | None
    summary: str
    origin: str
    audited: bool
    facts: tuple[Pair, ...]
    answers: tuple[Answer, ...]
    more_answers: int
    open_point: str | None
    open_points: int
    conditions: str = ""
    """The workload's label: what the rates are of, and nothing where no arm has one."""
    tally: tuple[tuple[str, str, int], ...] = field(default=())
    """(state, word, how many) of the registered hypotheses, in the order of STATES."""
