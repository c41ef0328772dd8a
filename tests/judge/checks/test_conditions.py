"""baseline and client: what spoils a measurement, and by how much."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchspec.judge.conditions import client_shares
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Client, Distribution, Quiet, Series
from tests.judge.world import burst, hypothesis, result, seen, spec, sweep, verdicts

FINE = Client(
    kernel_stamp_share=1.0,
    coalesced_share=0.0,
    send_lateness_ms_p99=0.2,
    read_lag_ms_p99=30.0,
    events_per_s=100,
    ceiling_events_s=20000,
)


def judged(check: str, quiet: Quiet | None = None, client: Client | None = FINE) -> CheckResult:
    step = burst("main", 4, 4, quiet=quiet, client=client)
    return result(verdicts(spec(), seen(step)), check)


@pytest.mark.parametrize(
    ("share", "reading"), [(0.0, "quiet"), (0.25, "quiet"), (0.26, "contaminated")]
)
def test_a_quarter_of_the_needed_processor_time_is_too_much(share: float, reading: str) -> None:
    r = judged("baseline", Quiet(foreign_share=share))
    assert (r.reading, r.value) == (reading, share)


def test_one_contaminated_repeat_contaminates_its_place() -> None:
    steps = [
        s.model_copy(update={"quiet": Quiet(foreign_share=0.9 if s.repeat == 2 else 0.0)})
        for s in sweep("main", 4, (4,))
    ]
    r = result(verdicts(spec(), seen(*steps)), "baseline")
    assert r.reading == "contaminated"
    assert "2 quiet, 1 contaminated" in r.caveats[-1]


def test_a_contaminated_step_gives_no_rate_but_keeps_its_shape() -> None:
    steps = [
        s.model_copy(update={"quiet": Quiet(foreign_share=0.9)}) for s in sweep("main", 1, (1, 4))
    ]
    study = spec(
        hypotheses=[
            hypothesis("H1", test={"check": "aggregate", "relation": ">=", "value": 1}),
            hypothesis("H2", test={"check": "completion-shape", "expect": "staircase"}),
            hypothesis(
                "H3",
                test={
                    "metric": "wall_s",
                    "at": {"concurrency": 4},
                    "over": {"concurrency": 1},
                    "relation": ">=",
                    "value": 2,
                },
            ),
        ]
    )
    v = verdicts(study, seen(*steps, slots={"main": 1}))
    assert [h.verdict for h in v.hypotheses] == ["invalid", "supported", "invalid"]
    assert result(v, "aggregate", concurrency=4).state == "invalid"
    shape = result(v, "completion-shape", concurrency=4)
    assert shape.quotable == "order-of-magnitude"
    assert "contaminated" in shape.caveats[-1]


def test_idle_counters_must_be_idle_before_and_after() -> None:
    def reading(before: Sequence[float], after: Sequence[float]) -> str | None:
        series = Series(
            counter="pcie-rx",
            unit="MB/s",
            device="gpu0",
            values=[100.0] * 10,
            idle_before=list(before),
            idle_after=list(after),
        )
        observed = seen(burst("main", 4, 4), series=[series])
        return result(verdicts(spec(), observed), "baseline").reading

    assert reading([0, 0, 3], [0, 1, 0]) == "quiet"
    assert reading([963, 1119, 1390], [0, 0, 0]) == "contaminated"
    assert reading([0, 0, 0], [150, 150]) == "contaminated"
    assert reading([0] * 20 + [101], [0]) == "contaminated"  # one sample above ten times the limit


def test_kernel_stamps_are_exact_however_late_they_are_read() -> None:
    r = judged("client")
    assert r.reading == "fine"
    assert isinstance(r.value, float)
    assert r.value < 0.01


@pytest.mark.parametrize(
    "client",
    [
        FINE.model_copy(update={"coalesced_share": 0.4}),
        FINE.model_copy(update={"kernel_stamp_share": 0.5}),
        FINE.model_copy(update={"kernel_stamp_share": None, "stamp_source": "user"}),
        FINE.model_copy(update={"send_lateness_ms_p99": 200.0}),
        FINE.model_copy(update={"events_per_s": 10001}),
    ],
    ids=["several events per read", "few kernel stamps", "no kernel stamps", "late", "overload"],
)
def test_a_client_that_is_part_of_the_figure_is_the_limit(client: Client) -> None:
    assert judged("client", client=client).reading == "client-limited"


def test_busy_cores_make_the_client_a_competitor() -> None:
    greedy = Quiet(foreign_share=0.0, client_share=0.2, busy_share=0.97)
    assert judged("client", greedy).reading == "client-limited"
    assert judged("client", greedy.model_copy(update={"busy_share": 0.6})).reading == "fine"


def test_the_share_is_of_each_figure_apart() -> None:
    step = burst(
        "main",
        1,
        1,
        client=FINE.model_copy(update={"coalesced_share": 0.4}),
        itl_ms=Distribution(n=31, p50=20, p90=20, p95=20, p99=20, max=20),
    )
    shares = client_shares(step)
    assert shares["itl"] == pytest.approx(30 / 20)
    assert shares["wall"] == pytest.approx((30 + 0.2) / 630)


def test_a_verdict_is_withheld_only_for_the_figure_that_the_client_spoils() -> None:
    late = FINE.model_copy(update={"coalesced_share": 0.4, "read_lag_ms_p99": 3.0})
    steps = [
        s.model_copy(
            update={
                "client": late,
                "itl_ms": Distribution(n=31, p50=20, p90=20, p95=20, p99=20, max=20),
            }
        )
        for s in sweep("main", 4, (4,))
    ]
    study = spec(
        hypotheses=[
            hypothesis("H1", test={"metric": "itl_ms", "relation": "<", "value": "1 s"}),
            hypothesis("H2", test={"metric": "wall_s", "relation": "<", "value": "10 s"}),
        ]
    )
    v = verdicts(study, seen(*steps))
    assert [h.verdict for h in v.hypotheses] == ["invalid", "supported"]
    assert "client-limited" in v.hypotheses[0].reason


@pytest.mark.parametrize(("share", "said"), [(None, False), (0.01, False), (0.016, True)])
def test_sampling_that_takes_more_than_its_share_is_a_caveat(
    share: float | None, said: bool
) -> None:
    r = judged("client", client=FINE.model_copy(update={"telemetry_share": share}))
    assert r.reading == "fine"
    assert ("sampling counters 1.6 % of one core" in (r.arithmetic or "")) is said
    assert any(c.startswith("sampling the counters took more than 1 %") for c in r.caveats) is said


def test_no_record_is_no_reading() -> None:
    assert judged("baseline", Quiet()).state == "insufficient"
    assert judged("client", client=Client()).state == "insufficient"
