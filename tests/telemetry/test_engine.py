"""What a server counts of itself, as the adapters in `engines/` give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchspec.engines.control_plane import prometheus_values
from benchspec.errors import EngineFailure
from benchspec.store.tracks import Track
from benchspec.telemetry.base import Families
from benchspec.telemetry.engine import EngineCounters, maxima

LLAMA = {"slots_busy": 4.0, "requests_deferred": 3.0, "requests_processing": 4.0}


def read(answers: Mapping[str, float], *named: str) -> dict[str, float | None]:
    source = EngineCounters(Families(named), lambda: answers)
    records = source.open(lambda: 0)
    return {records[r.counter].name: r.value for r in source.sample(lambda: 7)}


def test_waiting_and_running_by_whatever_name_the_server_has() -> None:
    assert read(LLAMA) == {"slots_busy": 4.0, "waiting": 3.0, "running": 4.0}


def test_tokens_are_counters_and_become_rates() -> None:
    source = EngineCounters(Families(), lambda: {"tokens_predicted_total": 100.0})
    (generated,) = [r for r in source.open(lambda: 0) if r.not_measured is None]
    assert (generated.name, generated.unit, generated.kind) == (
        "tokens_generated",
        "tok/s",
        "cumulative",
    )


def test_rates_that_the_server_resets_at_every_question_are_not_read() -> None:
    assert read({"predicted_tokens_seconds": 42.0}) == {}


def test_what_the_server_does_not_show_is_a_reason() -> None:
    source = EngineCounters(Families(("waiting",)), lambda: {"slots_busy": 1.0})
    (record,) = source.open(lambda: 0)
    assert record.not_measured == "the server shows no requests_deferred in /slots, /metrics"


def failing(error: Exception) -> Callable[[], Mapping[str, float]]:
    def ask() -> Mapping[str, float]:
        raise error

    return ask


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (failing(EngineFailure("it answered with more than 4 MiB")), "it answered with more"),
        (failing(RuntimeError("the client has been closed")), "the client has been closed"),
        (dict, "the server did not answer in time"),
    ],
)
def test_a_server_that_does_not_answer_is_a_reason(ask: Any, reason: str) -> None:
    source = EngineCounters(Families(("waiting",)), ask)
    (record,) = source.open(lambda: 0)
    assert (record.not_measured or "").startswith(reason)


def test_an_answer_that_stays_away_is_none_and_not_zero() -> None:
    answers = iter([LLAMA, {}, LLAMA])
    source = EngineCounters(Families(("waiting",)), lambda: next(answers))
    source.open(lambda: 0)
    (missed,) = source.sample(lambda: 1)
    (again,) = source.sample(lambda: 2)
    assert (missed.value, missed.trouble) == (None, "the server did not answer in time")
    assert again.value == 3.0


def test_it_is_not_asked_so_often_that_it_would_be_measured_answering() -> None:
    source = EngineCounters(Families(), lambda: LLAMA)
    assert (source.interval_s(0.1), source.interval_s(2.0)) == (1.0, 2.0)


def test_the_largest_number_that_waited_while_the_cell_ran() -> None:
    source = EngineCounters(Families(), lambda: LLAMA)
    waiting = next(r for r in source.open(lambda: 0) if r.name == "waiting")
    track = Track(counter=waiting, at_ns=[0, 10, 20, 30], values=[9.0, 1.0, None, 4.0])
    assert maxima([track], 5, 25) == {"requests_deferred_max": 1.0}
    assert maxima([track], 40, 50) == {}


def test_prometheus_text_of_an_engine_keeps_its_numbers() -> None:
    text = '# TYPE x gauge\nvllm:num_requests_waiting{engine="0"} 3\nnan_metric NaN\n'
    assert prometheus_values(text)["vllm:num_requests_waiting"] == 3.0
