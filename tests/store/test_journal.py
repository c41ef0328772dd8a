"""The journal survives a kill at any byte and a full disk, and publishes nothing private."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchspec.errors import StorageFailure
from benchspec.store import journal
from benchspec.store.records import CellKey, CellRecord, EngineRecord, Record, RunEnded, RunStarted
from benchspec.store.redaction import Redactor

NOTHING_PRIVATE = Redactor()
STARTED = RunStarted(benchspec="0.1.0", utc="2026-11-29T18:00:00Z", spec_sha256="0" * 64)


def cell(
    name: str, state: Literal["done", "aborted", "failed"] = "done", ended_ns: int = 1
) -> CellRecord:
    return CellRecord(
        key=CellKey(id=name, arm="A", concurrency=1),
        state=state,
        started_ns=0,
        ended_ns=ended_ns,
        planned_requests=1,
    )


def written(path: Path, *records: Record) -> bytes:
    with journal.Journal(path, NOTHING_PRIVATE) as lines:
        for record in records:
            lines.append(record)
    return path.read_bytes()


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    records = [STARTED, cell("A-c1-r1"), RunEnded(state="complete")]
    written(tmp_path / "journal.jsonl", *records)
    assert journal.read(tmp_path / "journal.jsonl") == records


def test_a_field_of_another_version_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    line = STARTED.model_dump_json().replace('"kind"', '"from_next_year": {"a": 1}, "kind"')
    path.write_text(line + "\n", "utf-8")
    assert journal.read(path) == [STARTED]


WHOLE = b"".join(
    record.model_dump_json().encode() + b"\n"
    for record in (STARTED, cell("A-c1-r1"), cell("A-c2-r1"))
)


@given(st.integers(0, len(WHOLE)))
def test_a_journal_cut_anywhere_gives_its_whole_lines(length: int) -> None:
    whole_lines = WHOLE[:length].count(b"\n")
    assert len(journal.parse(WHOLE[:length], "journal.jsonl")) == whole_lines


@settings(max_examples=20)
@given(length=st.integers(0, len(WHOLE)))
def test_appending_after_a_cut_never_joins_two_records(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal.jsonl"
    path.write_bytes(WHOLE[:length])
    written(path, cell("later"))
    records = journal.read(path)
    assert len(records) == WHOLE[:length].count(b"\n") + 1
    assert records[-1] == cell("later")


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(WHOLE.replace(b'"kind":"cell"', b'"kind":"cel', 1))
    with pytest.raises(StorageFailure, match="line 2,"):
        journal.read(path)


def test_a_line_that_does_not_fit_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    before = written(path, STARTED)
    write = os.write

    def full_after_ten_bytes(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with journal.Journal(path, NOTHING_PRIVATE) as lines:
        monkeypatch.setattr(os, "write", full_after_ten_bytes)
        with pytest.raises(StorageFailure, match="disk is full") as failure:
            lines.append(cell("A-c1-r1"))
        monkeypatch.undo()
    assert path.read_bytes() == before
    assert "kept" in (failure.value.hint or "")


def test_finished_cells_are_the_done_ones_and_the_later_of_two() -> None:
    records = [cell("a"), cell("a", ended_ns=2), cell("b", "aborted"), cell("c", "failed")]
    assert {name: one.ended_ns for name, one in journal.finished_cells(records).items()} == {"a": 2}


def test_an_engines_private_words_do_not_reach_the_journal(tmp_path: Path) -> None:
    redactor = Redactor(keys=["sk-secret"], paths=["/home/ada"], hosts=["lovelace"], users=["ada"])
    record = EngineRecord(
        arm="lovelace",
        engine="llama.cpp",
        started_ns=0,
        ready_ns=1,
        argv=["/home/ada/llama-server", "--api-key", "sk-secret"],
        env={"LLAMA_CACHE": "/home/ada/cache"},
        facts={"model_path": "/home/ada/m.gguf", "host": ["lovelace", {"of": "Ada"}]},
    )
    with journal.Journal(tmp_path / "journal.jsonl", redactor) as lines:
        lines.append(record)
    (read,) = journal.read(tmp_path / "journal.jsonl")
    assert isinstance(read, EngineRecord)
    assert read.argv == ["~/llama-server", "--api-key", "[key]"]
    assert read.env == {"LLAMA_CACHE": "~/cache"}
    assert read.facts == {"model_path": "~/m.gguf", "host": ["[host]", {"of": "[user]"}]}
    assert read.arm == "lovelace", "an arm's id joins records and stays"
