"""rate-per-price: tokens per second for a price, with both phases or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult, Verdicts
from benchspec.observations.model import Request, Step
from tests.judge.world import hypothesis, result, seen, spec, verdicts

CHECK = "rate-per-price"
CARD = {"id": "old", "price": {"value": 3000, "currency": "CNY", "date": "2026-06-01"}}
RATES = {"decode_tok_s": 94.7, "prefill_tok_s": 667.0}


def judged(*devices: dict[str, Any], count: int = 1, **figures: Any) -> Verdicts:
    step = Step(arm="main", concurrency=count, **RATES | figures)
    return verdicts(spec(hardware={"devices": list(devices)}), seen(step, origin="audit"))


def priced(*devices: dict[str, Any], **figures: Any) -> CheckResult:
    return result(judged(*devices, **figures), CHECK, phase="decode")


def test_each_phase_is_shown_with_the_other() -> None:
    both = judged(CARD)
    decode = result(both, CHECK, phase="decode")
    prefill = result(both, CHECK, phase="prefill")
    assert decode.value == pytest.approx(94.7 / 3)
    assert prefill.value == pytest.approx(667 / 3)
    assert decode.unit == prefill.unit == "tok/s for 1000 CNY"
    for shown in (decode, prefill):
        assert "decode 94.7 tok/s / 3000 CNY = 31.6" in (shown.arithmetic or "")
        assert "prefill 667 tok/s / 3000 CNY = 222" in (shown.arithmetic or "")
    assert decode.caveats == ["the devices alone: machine and power are not in it"]


def test_a_first_token_time_and_a_length_are_a_prefill_rate() -> None:
    waited = {"prefill_tok_s": None, "context_tokens": 262_144, "ttft_ms": 393_000.0}
    r = priced(CARD, **waited)
    assert "prefill 667" in (r.arithmetic or "")
    requests = [Request(end_s=9.0, ttft_ms=500.0, prompt_tokens=1000)]
    r = priced(CARD, prefill_tok_s=None, requests=requests)
    assert "prefill 2000 tok/s" in (r.arithmetic or "")


@pytest.mark.parametrize(
    ("figures", "missing"),
    [
        ({"prefill_tok_s": None}, "the prefill rate"),
        ({"decode_tok_s": None}, "the decode rate"),
        ({"prefill_tok_s": None, "ttft_ms": 0.0, "context_tokens": 5}, "the prefill rate"),
    ],
)
def test_one_phase_is_none(figures: dict[str, Any], missing: str) -> None:
    both = judged(CARD, **figures)
    for phase in ("decode", "prefill"):
        r = result(both, CHECK, phase=phase)
        assert r.state == "insufficient"
        assert r.missing[0].startswith(missing)


def test_every_device_needs_a_price_in_one_currency() -> None:
    split = {"engine": {"kind": "vllm", "flags": {"tensor-parallel-size": 2}}}
    step = Step(arm="main", concurrency=1, **RATES)

    def of(*devices: dict[str, Any]) -> CheckResult:
        found = verdicts(spec(hardware={"devices": list(devices)}, **split), seen(step))
        return result(found, CHECK, phase="decode")

    other = {"id": "new", "price": {"value": 400, "currency": "EUR"}}
    assert of(CARD, {"id": "new"}).missing == ["the price of new"]
    assert of(CARD, other).missing == ["prices in one currency, not in CNY and EUR"]
    both = of(CARD, {**CARD, "id": "second"})
    assert both.value == pytest.approx(94.7 / 6)


def test_without_prices_and_with_several_streams_there_is_nothing() -> None:
    assert not [c for c in judged({"id": "old"}).checks if c.check == CHECK]
    assert not [c for c in judged(CARD, count=4).checks if c.check == CHECK]
    assert not [c for c in judged().checks if c.check == CHECK]
    neither = judged(CARD, decode_tok_s=None, prefill_tok_s=None)
    assert not [c for c in neither.checks if c.check == CHECK]


def test_a_price_without_a_date_says_so() -> None:
    undated = {"id": "old", "price": {"value": 3000, "currency": "CNY"}}
    assert priced(undated).caveats[1] == "no date is stated of the price of old"


def test_two_arms_are_compared_by_a_hypothesis() -> None:
    new = {"id": "new", "price": {"value": 30_000, "currency": "CNY"}}
    test = {
        "check": CHECK,
        "at": {"arm": "pair", "phase": "prefill"},
        "over": {"arm": "single"},
        "relation": ">",
        "value": 2,
    }
    study = spec(
        hardware={"devices": [CARD, new]},
        arms=[{"id": "pair", "devices": ["old"]}, {"id": "single", "devices": ["new"]}],
        hypotheses=[hypothesis(test=test)],
    )
    steps = [
        Step(arm=arm, concurrency=1, repeat=r, **RATES)
        for arm in ("pair", "single")
        for r in (1, 2, 3)
    ]
    (h,) = verdicts(study, seen(*steps)).hypotheses
    assert h.verdict == "supported"
    assert h.value == pytest.approx(10.0)
