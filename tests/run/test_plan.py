"""The plan: complete, interleaved, seeded, and with as few engine starts as that allows."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import UsageError
from benchspec.run.plan import Plan
from benchspec.run.plan_text import duration_text, plan_data, plan_text
from tests.run.specs import plan_of

TWO_ARMS = """\
arms:
  - {id: A, engine: {flags: {parallel: 1}}}
  - {id: B, engine: {flags: {parallel: 4}}}
load: {concurrency: [1, 2, 4, 8]}
repeats: 3
"""

seeds = st.integers(0, 2**32 - 1)


def arms_text(count: int, repeats: int) -> str:
    arms = "".join(
        f"  - {{id: A{n}, engine: {{flags: {{parallel: {n + 1}}}}}}}\n" for n in range(count)
    )
    return f"arms:\n{arms}load: {{concurrency: [1, 2, 4]}}\nrepeats: {repeats}\n"


def turns(plan: Plan) -> list[tuple[int, str]]:
    """(repeat, arm) in the order of the plan, neighbours that are equal as one."""
    keys = ((cell.key.repeat, cell.key.arm) for cell in plan.cells)
    return [turn for turn, _ in itertools.groupby(keys)]


@given(arms=st.integers(1, 5), repeats=st.integers(1, 4), seed=seeds)
def test_every_cell_is_planned_once(arms: int, repeats: int, seed: int) -> None:
    plan = plan_of(arms_text(arms, repeats), seed=seed)
    keys = Counter((cell.key.arm, cell.key.concurrency, cell.key.repeat) for cell in plan.cells)
    assert len(keys) == arms * 3 * repeats
    assert set(keys.values()) == {1}
    assert len({cell.key.id for cell in plan.cells}) == len(plan.cells)


@given(arms=st.integers(1, 5), repeats=st.integers(1, 4), seed=seeds)
def test_within_a_repeat_every_arm_has_one_turn(arms: int, repeats: int, seed: int) -> None:
    plan = plan_of(arms_text(arms, repeats), seed=seed)
    assert Counter(turns(plan)) == {
        (repeat, f"A{n}"): 1 for repeat in range(1, repeats + 1) for n in range(arms)
    }
    assert [cell.key.repeat for cell in plan.cells] == sorted(c.key.repeat for c in plan.cells)


@given(arms=st.integers(2, 5), repeats=st.integers(1, 4), seed=seeds)
def test_neighbouring_repeats_share_an_engine_start(arms: int, repeats: int, seed: int) -> None:
    plan = plan_of(arms_text(arms, repeats), seed=seed)
    assert len(plan.blocks) == arms * repeats - (repeats - 1)


def test_arms_alternate_over_time() -> None:
    order = [arm for _, arm in turns(plan_of(TWO_ARMS, seed=1))]
    first, second = order[:2]
    assert order == [first, second, second, first, first, second]


def test_the_seed_decides_and_comes_from_the_spec() -> None:
    assert plan_data(plan_of(TWO_ARMS)) == plan_data(plan_of(TWO_ARMS))
    assert plan_of(TWO_ARMS).seed != plan_of(TWO_ARMS + "# a byte more\n").seed
    orders = {tuple(c.key.id for c in plan_of(TWO_ARMS, seed=n).cells) for n in range(20)}
    assert len(orders) > 10


def test_fixed_is_as_written() -> None:
    plan = plan_of(TWO_ARMS + "order: fixed\n")
    assert [cell.key.id for cell in plan.cells][:6] == [
        "A-c1-r1",
        "A-c2-r1",
        "A-c4-r1",
        "A-c8-r1",
        "B-c1-r1",
        "B-c2-r1",
    ]
    assert len(plan.blocks) == 6


def test_arms_with_one_launch_share_a_start() -> None:
    plan = plan_of(
        """\
arms:
  - {id: short, workload: {output: {tokens: 8}}}
  - {id: long, workload: {output: {tokens: 64}}}
load: {concurrency: [1]}
"""
    )
    assert len(plan.blocks) == 1
    assert {cell.work.max_tokens for cell in plan.cells} == {8, 64}


@pytest.mark.parametrize(
    ("load", "mode", "requests", "duration_s"),
    [
        ("{concurrency: [4]}", "burst", 4, None),
        ("{mode: burst, concurrency: [4], requests: 6}", "burst", 6, None),
        ("{concurrency: [4], requests: 40}", "sustained", 40, None),
        ("{concurrency: [4], duration: 30 s}", "sustained", None, 30.0),
        ("{mode: sustained, concurrency: [2]}", "sustained", 20, None),
        ("{mode: sustained, concurrency: [8]}", "sustained", 40, None),
        ("{rate: [2], duration: 10 s}", "open", None, 10.0),
        ("{rate: [2], requests: 7}", "open", 7, None),
        ("{rate: [2]}", "open", None, 30.0),
    ],
)
def test_how_much_a_step_sends(
    load: str, mode: str, requests: int | None, duration_s: float | None
) -> None:
    (cell,) = plan_of(f"load: {load}\n").cells
    assert (cell.mode, cell.requests, cell.duration_s) == (mode, requests, duration_s)


def test_axes_multiply_and_seeds_belong_to_repeats() -> None:
    plan = plan_of(
        "load: {concurrency: [1, 2], context: [64, 128], cache: [cold, warm]}\n"
        "repeats: 2\nseeds: [7, 8]\n"
    )
    assert len(plan.cells) == 16
    assert {cell.key.seed for cell in plan.cells if cell.key.repeat == 2} == {8}
    assert {cell.work.prompt_tokens for cell in plan.cells} == {64, 128}


def test_arms_are_asked_the_same_unless_one_engine_serves_them() -> None:
    plan = plan_of(
        """\
arms:
  - {id: A, engine: {flags: {np: 1}}}
  - {id: B, engine: {flags: {np: 2}}}
  - {id: B-long, engine: {flags: {np: 2}}, workload: {output: {tokens: 64}}}
load: {concurrency: [1, 2]}
"""
    )
    prompts = {cell.key.id: cell.prompts for cell in plan.cells}
    assert prompts["A-c1-r1"] == prompts["B-c1-r1"] != prompts["B-long-c1-r1"]
    assert len(set(prompts.values())) == 4


@pytest.mark.parametrize(
    ("workload", "material"),
    [
        ("{}", "english-prose"),
        ("{label: {material: chinese-prose}}", "chinese-prose"),
        ("{label: {material: recipes}, prompt: {file: recipes.jsonl}}", "recipes"),
    ],
)
def test_prompts_are_what_the_label_says(workload: str, material: str) -> None:
    (cell,) = plan_of(f"workload: {workload}\nload: {{concurrency: [1]}}\n").cells
    assert cell.work.material == material


def test_a_label_that_the_prompts_would_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="Arm main is labelled 'recipes'"):
        plan_of("workload: {label: {material: recipes}}\nload: {concurrency: [1]}\n")


@pytest.mark.parametrize(
    ("load", "mode", "requests"),
    [
        ("{concurrency: [4]}", "sustained", 20),
        ("{concurrency: [16]}", "sustained", 80),
        ("{concurrency: [4], requests: 40}", "sustained", 40),
        ("{rate: [2], requests: 8}", "open", 8),
        ("{rate: [2], duration: 10 s}", "open", None),
    ],
)
def test_conversations_are_counted_in_requests(load: str, mode: str, requests: int | None) -> None:
    (cell,) = plan_of(f"workload: {{turns: 4}}\nload: {load}\n").cells
    assert (cell.mode, cell.requests) == (mode, requests)
    assert cell.expected_requests == (80 if requests is None else requests)


def test_long_conversations_are_enough_to_fill_a_step() -> None:
    (cell,) = plan_of("workload: {turns: 10}\nload: {concurrency: [8]}\n").cells
    assert cell.requests == 80


@pytest.mark.parametrize(
    ("load", "why"),
    [
        ("{mode: burst, concurrency: [4]}", "a burst is one wave"),
        ("{concurrency: [4], cache: warm}", "a conversation warms its own prefix"),
        ("{concurrency: [4], requests: 10}", "10` is no whole number of them"),
    ],
)
def test_conversations_need_a_load_with_room_for_them(load: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        plan_of(f"workload: {{turns: 4}}\nload: {load}\n")


def test_a_plan_beyond_reason_is_refused() -> None:
    steps = ", ".join(map(str, range(1, 12)))
    with pytest.raises(UsageError, match="11000 cells"):
        plan_of(f"load: {{concurrency: [{steps}]}}\nrepeats: 1000\n")


def test_a_rate_for_too_long_is_refused() -> None:
    with pytest.raises(UsageError, match="500000 requests in a cell"):
        plan_of("load: {rate: [1, 5000], duration: 100 s}\n")


def test_flags_become_the_engines_own_words() -> None:
    plan = plan_of(
        "arms:\n  - {id: A, engine: {flags: {np: 2, kv-offload: false, port: 1, model: x}}}\n"
        "load: {concurrency: [1]}\n"
    )
    launch = plan.launches["A"]
    assert launch.argv == ("--ctx-size", "512", "-np", "2", "--no-kv-offload")
    assert launch.asked == {"ctx-size": 512, "parallel": 2, "kv-offload": False}


def test_a_pasted_command_is_taken_apart() -> None:
    plan = plan_of(
        "arms:\n  - {id: A, model: {source: null}, engine: {binary: null, command: "
        '"LLAMA_ARG_FIT=off ./build/llama-server -m x.gguf --port 8080 -np 4"}}\n'
        "load: {concurrency: [1]}\n"
    )
    launch = plan.launches["A"]
    assert launch.argv == ("-np", "4")
    assert launch.env == {"LLAMA_ARG_FIT": "off"}
    assert launch.model_source == "file:x.gguf"
    assert launch.asked == {"parallel": 4, "fit": "off"}


def test_the_text_shows_order_starts_time_and_acts() -> None:
    plan = plan_of(TWO_ARMS, seed=1)
    text = plan_text("T", plan, [])
    assert "24 cells, 4 engine starts, 90 requests" in text
    assert "seed 1" in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (130, "2 min 10 s"), (3900, "1 h 05 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
