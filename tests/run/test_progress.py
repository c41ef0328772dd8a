"""Progress: lines for files, objects for programs; quality, never a verdict."""

from __future__ import annotations

import io
import json
import os
import re

import pytest

from benchspec.run.progress import (
    JsonProgress,
    LiveProgress,
    PlainProgress,
    Progress,
    progress_for,
)
from benchspec.store.records import CellKey, CellRecord, QuietRecord, RequestRecord
from tests.run.specs import plan_of

PLAN = plan_of("load: {concurrency: [1, 2]}\nrepeats: 2\n")


def ended(ok: int = 2, failed: int = 0, reason: str | None = None) -> CellRecord:
    requests = [RequestRecord(index=i, ok=i < ok) for i in range(ok + failed)]
    return CellRecord(
        key=CellKey(id="A-c2-r1", arm="A", concurrency=2),
        state="done" if reason is None else "failed",
        reason=reason,
        started_ns=0,
        ended_ns=1_500_000_000,
        planned_requests=2,
        requests=requests,
        quiet=QuietRecord(wall_s=1.5, cores=2, waited_s=3.0),
    )


def told(progress: Progress, record: CellRecord) -> None:
    progress.begin(PLAN, 1)
    progress.cell(PLAN.cells[1])
    progress.ended(record)
    progress.close()


def test_a_line_per_cell() -> None:
    stream = io.StringIO()
    told(PlainProgress(stream), ended(ok=1, failed=1))
    assert stream.getvalue().startswith(
        "[2/4] A C=2 repeat 1: done, 1 ok, 1 failed, 1.50 s, waited 3.0 s for quiet; "
    )


def test_an_object_per_event() -> None:
    stream = io.StringIO()
    told(JsonProgress(stream), ended(ok=0, failed=2, reason="the engine's process ended"))
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event["event"] for event in events] == ["cell-started", "cell-ended"]
    assert events[1]["ok"] == 0
    assert events[1]["reason"] == "the engine's process ended"
    assert (events[1]["cell"], events[1]["cells"]) == (2, 4)


def test_a_download_is_told_of_ten_times_at_most() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream)
    for done in range(0, 1001, 1):
        progress.fetched("m.gguf", done * 1000, 1_000_000)
    lines = stream.getvalue().splitlines()
    assert len(lines) <= 11
    assert lines[-1] == "m.gguf: 1 of 1 MB"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("style", "stream", "environ", "kind"),
    [
        ("auto", io.StringIO(), {}, PlainProgress),
        ("auto", io.StringIO(), {"FORCE_COLOR": "1"}, PlainProgress),
        ("auto", Terminal(), {"CI": "true"}, PlainProgress),
        ("auto", Terminal(), {"TERM": "dumb"}, PlainProgress),
        ("plain", Terminal(), {}, PlainProgress),
        ("json", Terminal(), {}, JsonProgress),
        ("auto", Terminal(), {"TERM": "xterm"}, LiveProgress),
    ],
)
def test_the_stream_decides(
    style: str, stream: io.StringIO, environ: dict[str, str], kind: type
) -> None:
    progress = progress_for(style, stream, environ.get)  # type: ignore[arg-type]
    progress.close()
    assert type(progress) is kind


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_the_time_that_is_left_is_seen_on_any_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    progress = LiveProgress(stream)
    progress.begin(PLAN, 1)
    progress.close()
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).splitlines()
    assert any(re.search(r"cell 1 of 4, .* left$", line.rstrip()) for line in lines), lines
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("kind", [PlainProgress, JsonProgress])
def test_a_reader_who_went_away_does_not_end_the_run(kind: type[PlainProgress]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    progress = kind(os.fdopen(writing, "w"))
    told(progress, ended())
    progress.say("judging and rendering")
