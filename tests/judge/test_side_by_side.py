"""Two runs side by side: what makes them comparable, their ratios, and what may be quoted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchspec.judge.case import Case
from benchspec.judge.comparability import Comparability, Side, compare
from benchspec.judge.interval import Interval
from benchspec.judge.side_by_side import Comparison, FigureLine, hypotheses, side_by_side
from benchspec.judge.spread import Spread
from benchspec.observations.model import ArmObservation, Client, Quiet, Step
from benchspec.observations.node import Bounds
from benchspec.spec.models import Spec
from tests.judge.test_invariance import scaled
from tests.judge.world import hypothesis, seen, spec, sweep, verdicts

IDENTITY = {"model_sha256": "aa", "engine": "llama.cpp", "build": "b1", "gpu0.name": "A100"}


def side(
    *steps: Step, label: str = "A", study: Spec | None = None, origin: str = "run", **identity: Any
) -> Side:
    study = study or spec(arms=[{"id": "main"}])
    arms = {"main": ArmObservation(identity=IDENTITY | identity)}
    observed = seen(*steps, origin=origin, arms=arms)
    return Side(label, label, Case(study, observed), verdicts(study, observed))


def stated(*values: float, **rest: Any) -> list[Step]:
    """A step at C=1 with these rates, one per repeat."""
    return [
        Step(arm="main", concurrency=1, repeat=n, aggregate_tok_s=value, **rest)
        for n, value in enumerate(values, 1)
    ]


def compared(a: list[Step], b: list[Step], **identity: Any) -> Comparison:
    return side_by_side(side(*a), side(*b, label="B", **identity))


def line(a: list[Step], b: list[Step], **identity: Any) -> FigureLine:
    (step,) = compared(a, b, **identity).steps
    return next(one for one in step.figures if one.metric == "aggregate_tok_s")


def alike(study: Spec | None = None, **identity: Any) -> Comparability:
    a, b = side(*stated(10, 11, 12)), side(*stated(13, 14, 15), label="B", study=study, **identity)
    return compare(a, b)


# -- what is said before any figure


def test_nothing_differs_and_every_field_is_told() -> None:
    found = alike()
    assert found.comparable
    assert found.why == "Comparable: nothing differs that is recorded of both."
    told = " ".join(found.facts)
    for name in ("Model file", "Engine build", "Device", "Instrument", "Prompts"):
        assert name in told
    assert "Workload label: not recorded in A and B." in found.facts


@pytest.mark.parametrize(
    ("identity", "axis"),
    [({"build": "b2"}, "engine"), ({"gpu0.name": "H200"}, "hardware"), ({"driver": "2"}, None)],
)
def test_the_engine_or_the_machine_may_be_what_two_runs_compare(
    identity: dict[str, Any], axis: str | None
) -> None:
    found = alike(**identity)
    assert found.comparable
    assert [d.axis for d in found.differences] == ([axis] if axis else [])


@pytest.mark.parametrize(
    ("identity", "axis"),
    [({"model_sha256": "bb"}, "model"), ({"gpu0.memory_used_mib": 2}, None)],
)
def test_another_file_of_the_same_name_is_a_surprise(
    identity: dict[str, Any], axis: str | None
) -> None:
    found = alike(**identity)
    assert found.comparable is (axis is None)
    if axis:
        assert found.why == f"Not comparable: found different though declared equal: {axis}."


def test_a_machine_without_a_common_device_is_another() -> None:
    arms = {"main": ArmObservation(identity={"cpu0.name": "EPYC"})}
    study = spec(arms=[{"id": "main"}])
    observed = seen(*stated(1, 2, 3), arms=arms)
    b = Side("B", "B", Case(study, observed), verdicts(study, observed))
    found = compare(side(*stated(4, 5, 6)), b)
    assert [(d.axis, d.text) for d in found.differences] == [("hardware", "A100 and EPYC")]


def test_two_things_at_once_cannot_be_told_apart() -> None:
    changed = spec(arms=[{"id": "main", "engine": {"flags": {"parallel": 8}}}])
    found = alike(changed, build="b2")
    assert not found.comparable
    assert found.why.startswith("Not comparable: 2 things differ")


def test_a_flag_is_named_with_both_values() -> None:
    found = alike(spec(arms=[{"id": "main", "engine": {"flags": {"parallel": 8}}}]))
    assert found.comparable
    assert [(d.text, d.declared) for d in found.differences] == [("parallel unset and 8", True)]


def test_another_workload_is_named_by_its_key() -> None:
    longer = {"prompt": {"tokens": 64}, "output": {"tokens": 32, "forced": True}}
    (found,) = alike(spec(arms=[{"id": "main"}], workload=longer)).differences
    assert (found.axis, found.text) == ("workload", "prompt.tokens unset and 64")


def test_a_burst_and_a_load_kept_up_are_two_experiments() -> None:
    found = compared(stated(1, 2, 3, mode="burst"), stated(4, 5, 6, mode="sustained"))
    assert [(d.axis, d.text) for d in found.comparability.differences] == [
        ("load", "burst and sustained")
    ]


def test_an_authors_own_figures_come_from_another_instrument() -> None:
    audited = side(*stated(4, 5, 6), label="B", origin="audit")
    found = compare(side(*stated(1, 2, 3)), audited)
    assert not found.comparable
    assert "instrument" in found.why


def test_one_run_twice_is_no_comparison() -> None:
    found = compared(stated(1, 2, 3), stated(1, 2, 3)).comparability
    assert (found.comparable, found.blocked) == (False, True)
    assert "one run" in found.why


def test_no_step_in_common() -> None:
    elsewhere = [s.model_copy(update={"concurrency": 9}) for s in stated(1, 2, 3)]
    found = compared(stated(1, 2, 3), elsewhere)
    assert found.steps == []
    assert "share no step" in found.comparability.why
    assert (found.only_a, found.only_b) == (["arm main, C=1"], ["arm main, C=9"])


def test_evidence_that_was_changed_spoils_every_ratio() -> None:
    a, b = side(*stated(10, 10, 10)), side(*stated(11, 11, 11), label="B")
    changed = Side(b.label, b.name, b.case, b.verdicts, broken="journal.jsonl was changed")
    (step,) = side_by_side(a, changed).steps
    assert step.figures[0].ratio is not None
    assert step.figures[0].quotable == "no"
    assert step.figures[0].why == ["Not comparable: B: journal.jsonl was changed."]


# -- ratios


def test_a_ratio_is_of_the_medians_and_ranges_over_all_pairs() -> None:
    found = line(stated(10, 11, 12), stated(20, 22, 24))
    assert found.ratio is not None
    assert found.ratio.median == pytest.approx(2)
    assert found.ratio.range is not None
    assert (found.ratio.range.low, found.ratio.range.high) == pytest.approx((20 / 12, 24 / 10))
    assert found.quotable == "order-of-magnitude"  # 2 of 11 is 18 %
    assert found.a is not None
    assert (found.a.median, found.a.n) == (11, 3)


@pytest.mark.parametrize(
    ("a", "b", "reading"),
    [
        ((10, 10.1, 10.2), (11, 11.1, 11.2), "no-difference-shown"),  # three are too few
        ((10, 10.1, 10.2, 10.3), (11, 11.1, 11.2, 11.3), "differs"),
        ((10, 10.1, 10.2, 11.05), (11, 11.1, 11.2, 11.3), "no-difference-shown"),
    ],
)
def test_a_difference_that_nobody_registered_needs_four_of_each(
    a: tuple[float, ...], b: tuple[float, ...], reading: str
) -> None:
    assert line(stated(*a), stated(*b)).reading == reading


def test_a_denominator_over_half_its_median_is_never_quoted() -> None:
    found = line(stated(10, 14, 20), stated(10, 10, 10.1))
    assert found.quotable == "no"
    assert "A's repeats range over 71 % of the median" in found.why


@pytest.mark.parametrize(("n", "quotable"), [(1, "no"), (2, "order-of-magnitude"), (3, "yes")])
def test_few_repeats_are_said(n: int, quotable: str) -> None:
    found = line(stated(*([10.0] * n)), stated(11.0, 11.0, 11.0))
    assert found.quotable == quotable
    assert any("A has" in why for why in found.why) is (n < 3)
    assert found.ratio is not None
    assert (found.ratio.range is None) is (n == 1)  # the spread of one repeat is not known


def test_a_median_of_several_has_no_range() -> None:
    found = line(stated(10, repeats=3), stated(11, 11, 11))
    assert found.quotable == "order-of-magnitude"
    assert "of A's 3 repeats only the median is known" in found.why


def test_a_stated_range_is_one() -> None:
    ends = Step(arm="main", concurrency=1, repeats=3, aggregate_tok_s=Bounds(low=9.9, high=10.1))
    found = line([ends], stated(11, 11, 11))
    assert found.a is not None
    assert found.a.range == Bounds(low=9.9, high=10.1)
    assert found.quotable == "yes"


def test_a_metric_that_one_side_lacks_is_not_measured() -> None:
    (step,) = compared(stated(10, 10, 10, ttft_ms=5), stated(11, 11, 11)).steps
    found = next(one for one in step.figures if one.metric == "ttft_ms")
    assert (found.b, found.ratio, found.reading, found.quotable) == (
        None,
        None,
        "not-measured",
        "no",
    )
    assert found.why == ["B: not measured"]
    assert {one.metric for one in step.figures} == {"aggregate_tok_s", "ttft_ms"}


def test_a_disturbed_repeat_is_left_out_and_named() -> None:
    noisy = stated(10, 10, 10, quiet=Quiet(foreign_share=0.9))
    found = line(noisy, stated(11, 11, 11))
    assert (found.a, found.reading) == (None, "left-out")
    assert "A: left out: repeat 1: contaminated" in found.why[0]
    one = [noisy[0], *stated(10, 10, 10)[1:]]
    found = line(one, stated(11, 11, 11))
    assert found.a is not None
    assert (found.a.n, found.quotable) == (2, "order-of-magnitude")
    assert "A has 2 repeats; left out: repeat 1: contaminated" in found.why[0]


def test_a_figure_of_zero_divides_nothing() -> None:
    (step,) = compared(stated(1, 1, 1, ttft_ms=0), stated(2, 2, 2, ttft_ms=5)).steps
    found = next(one for one in step.figures if one.metric == "ttft_ms")
    assert (found.ratio, found.quotable) == (None, "no")
    assert "may be zero" in found.why[0]


def test_the_client_spoils_only_what_it_may_have_made() -> None:
    late = Client(kernel_stamp_share=0.0, read_lag_ms_p99=50.0)
    (step,) = compared(
        stated(10, 10, 10, ttft_ms=900.0, wall_s=0.2, client=late), stated(11, 11, 11, wall_s=0.2)
    ).steps
    whole = next(one for one in step.figures if one.metric == "wall_s")
    assert whole.a is None
    assert "client-limited" in whole.why[0]


# -- hypotheses


def test_hypotheses_are_matched_by_id_and_claim() -> None:
    test = {"metric": "aggregate_tok_s", "at": {"concurrency": 1}, "relation": ">=", "value": 10}
    studies = [
        spec(arms=[{"id": "main"}], hypotheses=[hypothesis("H1", test=test)]),
        spec(arms=[{"id": "main"}], hypotheses=[hypothesis("H1", test=test | {"value": 99})]),
        spec(arms=[{"id": "main"}], hypotheses=[{"id": "H1", "claim": "another", "test": test}]),
    ]
    sides = [side(*stated(20, 20, 20), study=study) for study in studies]
    found = hypotheses(sides)
    assert [(one.claim, one.verdicts) for one in found] == [
        ("claim H1", ["supported", "refuted", None]),
        ("another", [None, None, "supported"]),
    ]


# -- what must hold of any two runs

RATES = st.lists(st.floats(1, 1e4), min_size=1, max_size=6)


@settings(max_examples=80, deadline=None)
@given(RATES, RATES)
def test_swapping_the_runs_inverts_every_ratio(a: list[float], b: list[float]) -> None:
    one, other = line(stated(*a), stated(*b)), line(stated(*b), stated(*a))
    assert (one.reading, one.quotable) == (other.reading, other.quotable)
    assert one.ratio is not None
    assert other.ratio is not None
    assert isinstance(one.ratio.median, float)
    assert isinstance(other.ratio.median, float)
    assert one.ratio.median * other.ratio.median == pytest.approx(1)
    if one.ratio.range and other.ratio.range:
        assert one.ratio.range.low * other.ratio.range.high == pytest.approx(1)


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-2, 1e2), st.floats(0.5, 2))
def test_scaling_all_times_of_both_changes_no_reading(k: float, between: float) -> None:
    a = sweep("main", 4, repeats=4)
    b = [scaled(step, between) for step in sweep("main", 4, repeats=4, prefill_s=0.012)]
    before, after = compared(a, b), compared([scaled(s, k) for s in a], [scaled(s, k) for s in b])
    for old, new in zip(before.steps, after.steps, strict=True):
        for was, now in zip(old.figures, new.figures, strict=True):
            assert (was.metric, was.reading, was.quotable) == (
                now.metric,
                now.reading,
                now.quotable,
            )
            assert was.ratio is not None
            assert now.ratio is not None
            assert was.ratio.median == pytest.approx(now.ratio.median)


@given(st.lists(st.floats(1, 1e4), min_size=2, max_size=9))
def test_the_median_lies_within_the_range(values: list[float]) -> None:
    spread = Spread(tuple(map(Interval.of, values)), len(values))
    hull = spread.hull
    assert hull is not None
    assert hull.low <= spread.middle.low <= hull.high
