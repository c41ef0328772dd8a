"""From journal records to observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchspec.observations.from_bundle import reduce
from benchspec.observations.model import Observations
from benchspec.store.records import (
    CellKey,
    CellRecord,
    ClientRecord,
    EngineRecord,
    LogFinding,
    QuietRecord,
    Record,
    RequestRecord,
    RunStarted,
    SettingRecord,
)

MS = 1_000_000
T0 = 5_000 * MS
"""The cell's first dispatch, ns from the run's origin."""


def request(index: int, sent: int, tokens: Sequence[int], **rest: Any) -> RequestRecord:
    """Sent and token stamps in ms from T0; ends 1 ms after the last token."""
    stamps = [T0 + t * MS for t in tokens]
    base: dict[str, Any] = {
        "index": index,
        "sent_ns": T0 + sent * MS,
        "first_token_ns": stamps[0] if stamps else None,
        "last_token_ns": stamps[-1] if stamps else None,
        "end_ns": T0 + (tokens[-1] + 1) * MS if tokens else None,
        "ok": True,
        "completion_tokens": len(tokens),
        "samples_count": len(tokens),
    }
    return RequestRecord(**base | rest)


def cell(*requests: RequestRecord, name: str = "c1", **rest: Any) -> CellRecord:
    key: dict[str, Any] = {"id": name, "arm": "A", "concurrency": 2, "repeat": 1}
    key |= rest.pop("key", {})
    base: dict[str, Any] = {
        "key": CellKey(**key),
        "state": "done",
        "started_ns": T0 - MS,
        "ended_ns": T0 + 1000 * MS,
        "planned_requests": len(requests),
        "requests": list(requests),
    }
    return CellRecord(**base | rest)


def stamps(*each: Sequence[int]) -> Callable[[str], NDArray[np.int64]]:
    flat = np.array([T0 + t * MS for part in each for t in part], dtype=np.int64)
    return lambda _name: flat


def nothing(_name: str) -> NDArray[np.int64]:
    return np.empty(0, np.int64)


def observed(*records: Record) -> Observations:
    return reduce(list(records), nothing)


def test_times_are_seconds_from_the_first_dispatch() -> None:
    step = observed(cell(request(0, 2, [102, 122, 142]), request(1, 0, [100, 120, 140]))).steps[0]
    late, early = step.requests
    assert (early.start_s, late.start_s) == (0.0, 0.002)
    assert (late.first_token_s, late.last_token_s, late.end_s) == (0.102, 0.142, 0.143)
    assert (late.ttft_ms, late.itl_ms, late.tokens) == (100.0, 20.0, 3)
    assert step.wall_s == 0.143


def test_an_open_loop_counts_the_first_token_from_the_schedule() -> None:
    scheduled = T0 - 30 * MS
    one = observed(cell(request(0, 0, [100], scheduled_ns=scheduled))).steps[0].requests[0]
    assert (one.ttft_ms, one.scheduled_s) == (130.0, -0.03)


def test_absent_stays_absent() -> None:
    failed = RequestRecord(index=0, ok=False, error="refused")
    step = observed(cell(failed)).steps[0]
    one = step.requests[0]
    assert (one.start_s, one.ttft_ms, one.tokens, one.end_s) == (None, None, None, None)
    assert (one.ok, one.error, step.wall_s) == (False, "refused", None)
    assert (step.itl_ms, step.client, step.quiet, step.engine_restarted) == (None,) * 4


def test_failed_requests_do_not_end_the_step() -> None:
    timeout = request(1, 0, [], ok=False, end_ns=T0 + 9000 * MS)
    assert observed(cell(request(0, 0, [100]), timeout)).steps[0].wall_s == 0.101


def test_the_last_finished_record_of_a_cell_wins() -> None:
    first = cell(request(0, 0, [100]), state="aborted", reason="Ctrl-C")
    second = cell(request(0, 0, [200]))
    third = cell(request(0, 0, [300]), state="failed", reason="the engine died")
    lonely = cell(name="c2", state="failed", reason="no answer", key={"repeat": 2})
    steps = observed(first, second, third, lonely).steps
    assert [(s.repeat, s.state, s.wall_s) for s in steps] == [
        (1, "done", 0.201),
        (2, "failed", None),
    ]
    assert steps[1].reason == "no answer"


def test_times_between_tokens_are_pooled_over_requests() -> None:
    a, b = [100, 120, 140], [100, 110]
    records = [
        request(0, 0, a),
        request(1, 0, b, samples_start=3),
    ]
    step = reduce([cell(*records, samples_file="c1.npy")], stamps(a, b)).steps[0]
    assert step.itl_ms is not None
    assert (step.itl_ms.n, step.itl_ms.p50, step.itl_ms.max) == (3, 20.0, 20.0)
    assert step.samples == "c1.npy"


def test_the_window_of_a_sustained_step_cuts_ramp_and_drain() -> None:
    # Two in flight: full from 10 ms; the last dispatch is at 300 ms.
    times = [(0, [50, 100, 150]), (10, [60, 160, 250]), (151, [200, 280, 320]), (300, [350, 400])]
    records, at = [], 0
    for index, (sent, tokens) in enumerate(times):
        records.append(request(index, sent, tokens, samples_start=at))
        at += len(tokens)
    one = cell(*records, mode="sustained", samples_file="x")
    window = reduce([one], stamps(*(t for _, t in times))).steps[0].window
    assert window is not None
    assert (window.start_s, window.end_s) == (0.01, 0.3)
    assert window.tokens == 8  # three, three, and two of the third; the fourth is the drain


def test_a_chunk_of_several_tokens_counts_for_all_of_them() -> None:
    sent = [request(0, 0, [50, 100], completion_tokens=10), request(1, 0, [60], samples_start=2)]
    sent.append(request(2, 200, [250], samples_start=3))
    one = cell(*sent, mode="sustained", samples_file="x")
    window = reduce([one], stamps([50, 100], [60], [250])).steps[0].window
    assert window is not None
    assert window.tokens == 11


def test_a_step_that_was_never_full_has_no_window() -> None:
    assert observed(cell(request(0, 0, [100]), mode="sustained")).steps[0].window is None


def arrivals(*each: tuple[int, list[int]], **rest: Any) -> CellRecord:
    """An open loop: (due, token stamps) of each request in ms from T0, sent 1 ms late."""
    records, at = [], 0
    for index, (due, tokens) in enumerate(each):
        more = {"scheduled_ns": T0 + due * MS, "samples_start": at}
        records.append(request(index, due + 1, tokens, **more))
        at += len(tokens)
    key = {"concurrency": None, "rate": 10.0}
    return cell(*records, **{"mode": "open", "samples_file": "x", "key": key} | rest)


OPEN = ((0, [50, 100]), (100, [150, 200]), (200, [250, 300]), (300, [350, 400]))


def test_the_window_of_an_open_loop_is_its_schedule_and_cuts_the_drain() -> None:
    step = reduce([arrivals(*OPEN)], stamps(*(t for _, t in OPEN))).steps[0]
    assert step.window is not None
    # The first dispatch, from which times count, was 1 ms after the first arrival.
    assert (step.window.start_s, step.window.end_s, step.window.tokens) == (-0.001, 0.299, 6)
    assert step.wall_s == 0.4


def test_an_open_loop_without_stamps_or_shorter_than_an_answer_has_no_window() -> None:
    assert observed(arrivals(*OPEN)).steps[0].window is None
    short = ((0, [50, 200]), (100, [150, 300]))
    assert reduce([arrivals(*short)], stamps(*(t for _, t in short))).steps[0].window is None


def test_an_answer_without_stamps_leaves_no_window() -> None:
    """It would count as no token at all."""
    sent = [request(0, 0, [100]), request(1, 10, [110], samples_count=0), request(2, 111, [200])]
    one = cell(*sent, mode="sustained", samples_file="x")
    assert reduce([one], stamps([100], [200])).steps[0].window is None


def test_the_arm_has_the_slots_of_the_live_server() -> None:
    start = EngineRecord(
        arm="A",
        engine="llama.cpp",
        started_ns=0,
        ready_ns=1,
        build="b11434",
        model_sha256="ab",
        settings=[
            SettingRecord(name="parallel", asked=None, found=4, found_source="/props"),
            SettingRecord(name="ctx-size-per-slot", found=2048, found_source="log"),
            SettingRecord(name="ctx-size", found=8192, found_source="log"),
            SettingRecord(name="kv-unified", found=True, found_source="log"),
        ],
        findings=[LogFinding(effect="warning", text="slow")],
        facts={"kv_mib": 22.5, "model_bytes": 96_576_768, "experts": 0, "n_ctx": 8192},
    )
    arm = observed(start, start).arms["A"]
    assert (arm.slots, arm.slots_source, arm.context_per_slot, arm.kv_tokens) == (
        4,
        "/props",
        2048,
        8192,
    )
    assert arm.kv_bytes == 22.5 * 2**20
    assert arm.model_bytes == 96_576_768
    assert arm.identity == {"engine": "llama.cpp", "build": "b11434", "model_sha256": "ab"}
    assert [entry.text for entry in arm.log] == ["slow"]
    other = start.model_copy(update={"build": "b11435"})
    assert observed(start, other).arms["A"].identity["build"] == "b11434 and b11435"
    for experts in ({}, {"experts": 64}):
        some = start.model_copy(update={"facts": {"model_bytes": 9, "n_ctx": 8192, **experts}})
        assert observed(some).arms["A"].model_bytes is None, "a token may read a part of it"


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"offloaded_layers": 33, "offloadable_layers": 33}, "cards"),
        ({"offloaded_layers": 20, "offloadable_layers": 33}, None),
        ({"offloaded_layers": 0, "offloadable_layers": 33}, "host"),
        ({"n_ctx": 8192}, "host"),
        ({}, None),
    ],
)
def test_what_was_loaded_counts_where_the_log_says_that_it_lies_in_one_place(
    facts: dict[str, int], place: str | None
) -> None:
    known = {"model_bytes": 17_000_000_000, "experts": 0, **facts}
    start = EngineRecord(arm="A", engine="llama.cpp", started_ns=0, ready_ns=1, facts=known)
    arm = observed(start).arms["A"]
    assert (arm.loaded_on, arm.model_bytes) == (place, 17e9 if place else None)


def test_what_was_probed_between_cards_comes_with_the_engine() -> None:
    timed = {"name": "gpu0 to gpu1", "bytes": 4096, "direct_s": 0.049, "host_s": 1.6e-5}
    facts = {"link_probes": [timed, {"name": "no size"}, 5, None]}
    start = EngineRecord(arm="A", engine="llama.cpp", started_ns=0, ready_ns=1, facts=facts)
    (probe,) = observed(start).link_probes
    assert (probe.name, probe.direct_s, probe.host_s) == ("gpu0 to gpu1", 0.049, 1.6e-5)
    assert observed(start.model_copy(update={"facts": {"link_probes": 5}})).link_probes == []
    assert observed().link_probes == []


def test_shares_are_of_the_time_that_engine_and_client_needed() -> None:
    quiet = QuietRecord(
        wall_s=10, cores=2, foreign_cpu_s=2, engine_cpu_s=7, client_cpu_s=1, steal_s=0.8
    )
    found = observed(cell(request(0, 0, [1]), quiet=quiet)).steps[0].quiet
    assert found is not None
    assert found.foreign_share == pytest.approx(0.25)
    assert (found.client_share, found.busy_share, found.steal_share) == (0.125, 0.4, 0.1)
    unknown = quiet.model_copy(update={"engine_cpu_s": None})
    remote = observed(cell(request(0, 0, [1]), quiet=unknown)).steps[0].quiet
    assert remote is not None
    assert (remote.foreign_share, remote.client_share) == (None, None)


def test_the_client_is_carried_over() -> None:
    record = ClientRecord(
        cpu_s=1, wall_s=2, cpu_share=0.5, events=100, reads=50, kernel_stamps=49, coalesced_reads=5
    )
    client = observed(cell(request(0, 0, [1]), client=record)).steps[0].client
    assert client is not None
    assert (client.events_per_s, client.kernel_stamp_share, client.coalesced_share) == (
        50,
        0.98,
        0.1,
    )
    assert client.send_lateness_ms_p99 is None


def test_a_restart_inside_a_cell_is_seen() -> None:
    def restarted(before: int | None, after: int | None) -> bool | None:
        one = cell(request(0, 0, [1]), engine_pid_before=before, engine_pid_after=after)
        return observed(one).steps[0].engine_restarted

    assert [restarted(1, 1), restarted(1, 2), restarted(None, 2)] == [False, True, None]


def test_the_waiting_counter() -> None:
    one = cell(request(0, 0, [1]), counters={"requests_deferred_max": 4.0, "slots_busy_max": 4})
    assert observed(one).steps[0].waiting_max == 4


def test_the_same_journal_gives_the_same_bytes() -> None:
    run = RunStarted(benchspec="1", utc="2026-01-01T00:00:00Z", spec_sha256="0")
    records = [run, cell(request(0, 0, [100, 120]), request(1, 1, [100, 130]))]
    assert observed(*records).model_dump_json() == observed(*records).model_dump_json()
