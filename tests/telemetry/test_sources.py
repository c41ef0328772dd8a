"""What a spec says under `telemetry`, and what becomes of it on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.spec.models import Spec
from benchspec.telemetry.sources import ELSEWHERE, SOURCES, Around, sources_of, wanted

BASE: dict[str, Any] = {"benchspec": 1, "study": {"title": "x"}}
HERE = Around(ask=lambda: {"slots_busy": 1.0}, env={}, local=True)


def spec(telemetry: dict[str, Any], **rest: Any) -> Spec:
    return Spec.model_validate({**BASE, "telemetry": telemetry, **rest})


def test_nothing_is_sampled_unless_it_is_asked_for() -> None:
    assert sources_of(wanted(spec({})), HERE) == []


def test_names_are_read_as_people_write_them() -> None:
    what = wanted(spec({"sources": ["NVML", "host", "host"], "counters": ["PCIe", "pcie-rx"]}))
    assert what.sources == ("nvml", "host")
    assert what.families.named == ("pcie", "pcie_rx")


@pytest.mark.parametrize(("written", "seconds"), [(None, 0.2), ("100 ms", 0.1), ("1 ms", 0.02)])
def test_the_interval_has_a_default_and_a_limit(written: str | None, seconds: float) -> None:
    assert wanted(spec({"interval": written} if written else {})).interval_s == seconds


def test_a_hypothesis_about_joules_needs_no_counter_to_be_named() -> None:
    test = {"metric": "joules_per_token", "relation": "<", "value": 2}
    hypotheses = [{"id": "H1", "claim": "x", "test": test}]
    what = wanted(spec({"counters": ["pcie"]}, hypotheses=hypotheses))
    assert what.families.want("energy")
    assert not what.families.judge("energy", of_device=True)
    assert not wanted(spec({"counters": ["pcie"]})).families.want("energy")


def test_who_waited_is_always_asked() -> None:
    what = wanted(spec({"counters": ["pcie"]}))
    assert what.families.want("waiting")
    assert not what.families.judge("waiting", of_device=False)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_source_opens_and_closes_on_any_machine(name: str) -> None:
    for source in sources_of(wanted(spec({"sources": [name]})), HERE):
        records = source.open(lambda: 0)
        readings = list(source.sample(lambda: 1))
        source.close()
        assert all(record.not_measured or record.unit for record in records)
        assert {records[r.counter].not_measured for r in readings} <= {None}


def test_another_machine_can_only_be_asked_through_its_engine() -> None:
    what = wanted(
        spec({"sources": ["nvml", "host", "engine"], "counters": ["pcie", "cpu", "slots"]})
    )
    there = Around(ask=lambda: {"slots_busy": 1.0}, env={}, local=False)
    records = [r for source in sources_of(what, there) for r in source.open(lambda: 0)]
    lacking = {r.name: r.not_measured for r in records if r.not_measured}
    assert (lacking["pcie"], lacking["cpu"]) == (ELSEWHERE, ELSEWHERE)
    assert [r.name for r in records if r.not_measured is None] == ["slots_busy"]


def test_a_source_that_nobody_knows_is_a_reason() -> None:
    (source,) = sources_of(wanted(spec({"sources": ["powermetrics"]})), HERE)
    (record,) = source.open(lambda: 0)
    assert (record.name, record.not_measured) == ("powermetrics", "there is no source of this name")
