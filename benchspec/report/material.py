"""The four things a report is made from, and small questions about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from benchspec.judge.case import Case
from benchspec.judge.result import HypothesisResult, Verdicts
from benchspec.observations.model import Observations
from benchspec.report.facts import BundleFacts
from benchspec.report.text import anchor
from benchspec.spec.models import Spec


@dataclass(frozen=True)
class Material:
    spec: Spec
    observations: Observations
    verdicts: Verdicts
    facts: BundleFacts

    @cached_property
    def case(self) -> Case:
        """The judge's lookups: resolved arms, slots and how they are known."""
        return Case(self.spec, self.observations)

    @property
    def url(self) -> str | None:
        """Where the report is published, if that is a web address."""
        url = self.facts.url or self.spec.study.url or ""
        return url if re.fullmatch(r"https?://[^\s<>\"']{1,500}", url) else None

    @property
    def audited(self) -> bool:
        """True when benchspec measured nothing itself."""
        return self.facts.origin != "run"

    @property
    def registered(self) -> list[HypothesisResult]:
        """Verdicts on hypotheses that were declared before the run."""
        return [h for h in self.verdicts.hypotheses if not h.exploratory]


_PLACE_ORDER = ("concurrency", "rate", "context", "context_tokens", "cache", "phase", "device")
_BARE = {"phase", "cache", "device"}
_SHORT = {"concurrency": "C", "rate": "rate", "context_tokens": "context"}


def place_of(at: dict[str, object]) -> str:
    """Coordinates in words: `C=8, decode`."""
    known = [key for key in _PLACE_ORDER if at.get(key) is not None]
    others = sorted(key for key in at if key not in _PLACE_ORDER and at[key] is not None)
    words = [
        str(at[key]) if key in _BARE else f"{_SHORT.get(key, key)}={at[key]}"
        for key in known + others
    ]
    return ", ".join(words)


def check_anchor(key: str) -> str:
    """The anchor of the check result with this key."""
    return anchor("check", key)


def hypothesis_anchor(identifier: str) -> str:
    """The anchor of a verdict card."""
    return anchor("hypothesis", identifier)
