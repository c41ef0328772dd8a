"""What the judge says: results of checks, verdicts on hypotheses, and what was not finished."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from benchspec.observations.node import Bounds, Provenance

State = Literal["judged", "insufficient", "not-applicable", "invalid"]
Quotable = Literal["yes", "order-of-magnitude", "bound", "no"]
_SHORT = {"concurrency": "C", "context_tokens": "context"}
VerdictWord = Literal["supported", "refuted", "inconclusive", "invalid", "not-run"]


class Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Input(Node):
    """One number (or word) that went into a division, and where it came from.

    `source` says it for a reader: "4 requests of arm one-slot, C=4, repeat 2", "/props of the live
    server", "datasheet". An asked and found setting is an Input with `asked` and `value`.
    """

    name: str
    value: float | Bounds | str | bool | None
    unit: str | None = None
    provenance: Provenance = "measured"
    source: str | None = None
    asked: float | str | bool | None = None


Bound = Literal["at-least", "at-most", "both"]
"""`both`: inputs bound it from either side, so it is no bound at all."""


class CheckResult(Node):
    """One line of the judge.

    `arithmetic` is the division with its numbers put in; `value` its result in `unit`; over repeats
    the median, with `range` (smallest, largest) and `n`. `missing` names lacking inputs when the
    state is insufficient; `reason` says in a sentence why the state is not `judged`.
    """

    check: str
    arm: str | None = None
    at: dict[str, Any] = {}
    state: State
    reading: str | None = None
    arithmetic: str | None = None
    value: float | Bounds | None = None
    unit: str | None = None
    range: Bounds | None = None
    n: int | None = None
    remainder: float | None = None
    """Share of the whole that the division leaves unexplained, where that is a question."""
    inputs: list[Input] = []
    quotable: Quotable = "no"
    bound: Bound | None = None
    """Which side `value` bounds the true figure from, where an input does."""
    caveats: list[str] = []
    missing: list[str] = []
    reason: str | None = None

    @property
    def key(self) -> str:
        """How a hypothesis refers to it: `queueing four-slots C=8`; the same after a trip through
        JSON, which keeps no order."""
        known = list(_SHORT)
        order = sorted(self.at, key=lambda at: (known.index(at) if at in known else len(known), at))
        places = [f"{_SHORT.get(name, name)}={self.at[name]}" for name in order]
        return " ".join([self.check, *([self.arm] if self.arm else []), *places])


class GateResult(Node):
    reading: Literal["triggered", "not-triggered", "undecided"]
    then: str
    cost: str | None = None
    arithmetic: str | None = None


class HypothesisResult(Node):
    """A verdict on one hypothesis, with the comparison written out and the repeats behind it."""

    id: str
    claim: str
    because: str | None = None
    verdict: VerdictWord
    reason: str
    arithmetic: str | None = None
    value: float | Bounds | None = None
    unit: str | None = None
    range: Bounds | None = None
    n: int | None = None
    predicted: float | Bounds | None = None
    prediction_error: float | None = None
    """(measured - predicted) / predicted."""
    readings: list[str] = []
    checks: list[str] = []
    """Keys of the check results it rests on: `queueing four-slots C=8`."""
    gate: GateResult | None = None
    exploratory: bool = False
    admissible: bool = True
    overridden: list[str] = []
    withdrawn_by: list[str] = []


class Unfinished(Node):
    """One line of "What this didn't finish"; `kind` is a bare token, `text` a sentence."""

    kind: str
    text: str
    check: str | None = None
    arm: str | None = None
    at: dict[str, Any] = {}
    hypothesis: str | None = None


class OrderStep(Node):
    """One of the seven questions of "In this order". `open`: asked, and the figures do not answer."""

    number: int
    question: str
    state: Literal["answered", "open", "not-asked"]
    answer: str
    checks: list[str] = []


class Verdicts(Node):
    """`verdicts.json`."""

    format_version: int = 1
    benchspec: str
    study: str
    spec_sha256: str
    origin: str = "run"
    admissible: bool = True
    overrides: dict[str, str] = {}
    hypotheses: list[HypothesisResult] = []
    checks: list[CheckResult] = []
    unfinished: list[Unfinished] = []
    waivers: list[dict[str, Any]] = []
