"""What the readers of logs hand back, and the figures that they make of text. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

LARGEST = 10**15
"""A larger count is no count."""

_PART_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(h|ms|m|s|us|ns)")
_DURATION = re.compile(rf"(?:{_PART.pattern}){{1,6}}")


@dataclass
class Found:
    """Parts of `observations` that a log gives, and in words what of it no key holds.

    `steps` and `series` are as the spec writes them; `arm` is what goes under `arms` (kv_tokens,
    log). `left_out` names each kind of figure once.
    """

    steps: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)
    arm: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.steps or self.series or self.arm or self.left_out)

    def leave_out(self, what: str) -> None:
        """Say once that `what` stands in the log and not in what is printed."""
        if what not in self.left_out:
            self.left_out.append(what)


def number(text: str | None) -> float | None:
    """A number with a decimal point or, as some locales print it, a comma; None for inf and nan."""
    try:
        value = float((text or "").replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= LARGEST else None


def whole(text: str | None) -> int | None:
    """A count, with or without `,` between thousands; None where there is none."""
    digits = (text or "").replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) <= len(str(LARGEST)) - 1 else None


def duration_s(text: str) -> float | None:
    """A duration as Go prints it (850.5µs, 250.000ms, 5.1s, 2m10.5s) in seconds; None for others."""
    plain = text.replace("µ", "u").replace("μ", "u")
    if not _DURATION.fullmatch(plain):
        return None
    return rounded(sum(float(n) * _PART_S[unit] for n, unit in _PART.findall(plain)))


def rounded(value: float) -> float:
    """Without the noise of the arithmetic: nine digits."""
    return float(f"{value:.9g}")


def between(values: Iterable[float | None]) -> float | str | None:
    """What all values are, or the interval that holds them (and so their mean); None for none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    return low if low == high else f"{low}..{high}"


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are known: None and empty lists are left out."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


def pairs(text: str) -> dict[str, str]:
    """`name: value, name: value`, as engines print it, by name."""
    found = (part.rpartition(": ") for part in text.split(", "))
    return {name.strip(): value.strip() for name, _, value in found if name}


def step(found: Found, requests: list[dict[str, Any]], source: str, **fields: Any) -> None:
    """Add a step of what the log tells of requests, and of all of them; none of nothing."""
    known = [request for request in requests if request]
    figures = present(**fields)
    if known or figures:
        found.steps.append({"source": source, **figures, **present(requests=known)})


def first_number(text: str | None) -> float | None:
    """The number that `text` begins with: of `95.0%`, `16 reqs` and `True` the 95, the 16, None."""
    match = re.match(r"-?\d{1,15}(?:\.\d{1,15})?(?![\d.])", text or "")
    return number(match[0]) if match else None


Fields = Mapping[str, tuple[str, str]]
"""Name of a figure in the log -> (counter, unit)."""
