"""Putting a cell together: nothing that a process did is lost or counted twice."""

from __future__ import annotations

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.clock import ReadStats
from benchspec.load.trace import Share, Understood, assemble
from benchspec.store.records import RequestRecord
from tests.load.wire import assert_conserved

moments = st.integers(0, 10**12)


@st.composite
def requests(draw: st.DrawFn) -> list[Understood]:
    """What a process issued, in the order in which it was meant to go out."""
    made = []
    for intended_ns in sorted(draw(st.lists(moments, max_size=6))):
        late_ns, ok = draw(st.integers(0, 10**9)), draw(st.booleans())
        gaps = draw(st.lists(st.integers(0, 10**8), max_size=5))
        sent_ns = intended_ns + late_ns
        tokens = [sent_ns + sum(gaps[: n + 1]) for n in range(len(gaps))]
        record = RequestRecord(
            index=0,
            sent_ns=sent_ns,
            first_token_ns=tokens[0] if tokens else None,
            last_token_ns=tokens[-1] if tokens else None,
            end_ns=sent_ns + sum(gaps),
            ok=ok,
            error=None if ok else draw(st.sampled_from(["no", "never"])),
        )
        coalesced = draw(st.integers(0, len(gaps)))
        made.append(Understood(record, intended_ns, array("q", tokens), coalesced))
    return made


@st.composite
def shares(draw: st.DrawFn) -> Share:
    lags = draw(st.lists(st.integers(0, 10**8), max_size=5))
    reads = ReadStats(len(lags) + draw(st.integers(0, 2)), len(lags), array("q", lags))
    start, end = sorted((draw(moments), draw(moments)))
    cpu_s = draw(st.floats(0, 10))
    return Share(draw(requests()), reads, cpu_s, start, end, draw(st.booleans()), None)


@given(st.lists(shares(), min_size=1, max_size=4))
def test_a_cell_holds_what_its_processes_did(parts: list[Share]) -> None:
    trace = assemble(parts, 1e5)
    done = [one for part in parts for one in part.requests]
    assert_conserved(trace, len(done))
    assert sorted(one.sent_ns or 0 for one in trace.requests) == sorted(
        one.record.sent_ns or 0 for one in done
    )
    assert sum(one.ok for one in trace.requests) == sum(one.record.ok for one in done)
    stamps = sorted(stamp for one in done for stamp in one.token_ns)
    assert sorted(trace.samples.tolist()) == stamps
    client = trace.client
    assert client.processes == len(parts)
    assert client.events == len(stamps)
    assert client.reads == sum(part.reads.reads for part in parts)
    assert client.kernel_stamps == sum(part.reads.kernel_stamps for part in parts)
    assert client.coalesced_reads == sum(one.coalesced_reads for one in done)
    assert client.cpu_s == sum(part.cpu_s for part in parts)
    assert (trace.started_ns, trace.ended_ns) == (
        min(part.started_ns for part in parts),
        max(part.ended_ns for part in parts),
    )


@given(st.lists(shares(), min_size=1, max_size=4))
def test_the_clients_error_is_that_of_all_requests_together(parts: list[Share]) -> None:
    client = assemble(parts, None).client
    late = [(one.record.sent_ns or 0) - one.intended_ns for part in parts for one in part.requests]
    lags = [lag for part in parts for lag in part.reads.lag_ns]
    for found, all_ns in ((client.send_lateness_ms_p99, late), (client.read_lag_ms_p99, lags)):
        assert found == (float(np.percentile(all_ns, 99) / 1e6) if all_ns else None)


def test_requests_are_numbered_in_the_order_in_which_they_were_meant_to_go_out() -> None:
    def share(*moments_ns: int) -> Share:
        issued = [
            Understood(RequestRecord(index=0, sent_ns=moment), moment, array("q"), 0)
            for moment in moments_ns
        ]
        return Share(issued, ReadStats(), 0.0, 0, 1, False, None)

    trace = assemble([share(0, 20), share(10, 30)], None)
    assert [(one.index, one.sent_ns) for one in trace.requests] == [
        (0, 0),
        (1, 10),
        (2, 20),
        (3, 30),
    ]


def test_one_process_that_gave_up_fails_the_cell() -> None:
    good = Share([], ReadStats(), 0.0, 0, 1, False, None)
    gave_up = Share([], ReadStats(), 0.0, 0, 1, False, "20 requests failed one after another")
    assert assemble([good, gave_up], None).state == "failed"
    stopped = Share([], ReadStats(), 0.0, 0, 1, True, "it was interrupted")
    assert assemble([good, stopped], None).state == "aborted"
