"""rate-per-price: how many tokens per second does a price buy, in both phases?

Needs: a price for every device of an arm, in one currency; of a single stream the decode rate and
the prefill rate (or the length of the prompt and its first-token time).

Division: decode rate [tok/s] / sum of the prices, and prefill rate [tok/s] / the same, each for a
thousand of the currency.

Readings
  rate   both phases are known, and each result shows both

Silent when: no device has a price; one of the arm's has none, or another currency; one phase is not
known: the cheaper arm may win the phase that is shown and lose the other.

Value: tok/s for a thousand. Source: definition. It is the price of the devices alone: machine, power
and time are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case, measured, need
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, lacking, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Step
from benchspec.spec.models import Device

NAME = "rate-per-price"
READINGS = ("rate",)
NEEDS = "a price for every device of an arm, and its decode and prefill rates"
RATE = True

_THOUSAND = 1000.0
_PHASES = ("decode", "prefill")


class _Price(NamedTuple):
    """What the devices of an arm cost together."""

    value: float
    currency: str
    source: str


def check(case: Case) -> list[CheckResult]:
    """Two results per arm with prices and place of a single stream: decode and prefill."""
    found = [r for phase in _PHASES for r in _of_phase(case, phase)]
    return [r for r in found if r.state != "not-applicable"]


def _of_phase(case: Case, phase: str) -> list[CheckResult]:
    def divide(line: Line, step: Step) -> CheckResult:
        devices = case.setup(step.arm).devices
        if step.concurrency not in (None, 1) or not any(d.price for d in devices):
            raise not_applicable("several streams, or no prices")
        decode, prefill = figures.decode_tok_s(step), _prefill_tok_s(step)
        if decode is None and prefill is None:
            raise not_applicable("no rate is known")
        price = _price_of(devices)
        rates = {
            "decode": need(decode, f"the decode rate{_BOTH}"),
            "prefill": need(prefill, f"the prefill rate{_BOTH}"),
        }
        each = {name: rate * _THOUSAND / price.value for name, rate in rates.items()}
        return line.judged(
            "rate",
            "; ".join(
                f"{name} {show(rates[name])} tok/s / {show(price.value)} {price.currency} = "
                f"{show(each[name], 3)} tok/s for {show(_THOUSAND)} {price.currency}"
                for name in (phase, *(other for other in _PHASES if other != phase))
            ),
            each[phase],
            f"tok/s for {show(_THOUSAND)} {price.currency}",
            inputs=[
                *(measured(f"{name} rate", rate, "tok/s", step) for name, rate in rates.items()),
                as_input(
                    "price", Interval.of(price.value), price.currency, "declared", price.source
                ),
            ],
            caveats=["the devices alone: machine and power are not in it", *_undated(devices)],
        )

    return case.per_repeat(NAME, divide, rate=True, also={"phase": phase})


_BOTH = ", since a price is not set against one phase alone"


def _price_of(devices: Sequence[Device]) -> _Price:
    """The sum of the prices. Raises Withheld where one is missing or of another currency."""
    prices = [d.price for d in devices if d.price is not None]
    if missing := [d.id for d in devices if d.price is None]:
        raise lacking(f"the price of {' and '.join(missing)}")
    currencies = sorted({price.currency for price in prices})
    if len(currencies) > 1:
        raise lacking(f"prices in one currency, not in {' and '.join(currencies)}")
    source = " + ".join(f"{d.id} {show(d.price.value)}" for d in devices if d.price is not None)
    return _Price(sum(price.value for price in prices), currencies[0], source)


def _prefill_tok_s(step: Step) -> Interval | None:
    """As known, else the tokens of the prompt (or of the context) / first-token time."""
    rate = metrics.METRICS["prefill_tok_s"].whole(step)
    if rate is not None:
        return rate
    tokens, first = figures.prompt_tokens(step) or step.context_tokens, figures.ttft_ms(step)
    if tokens is None or first is None or first.low <= 0:
        return None
    return tokens / (first * 1e-3)


def _undated(devices: Sequence[Device]) -> list[str]:
    undated = [d.id for d in devices if d.price is not None and d.price.date is None]
    return [f"no date is stated of the price of {' and '.join(undated)}"] if undated else []
