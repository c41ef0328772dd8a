"""A server's log is read as far as it goes, followed, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.engines import log_file
from benchspec.engines.log_file import LogFile
from benchspec.errors import EngineFailure


def test_what_is_new_begins_where_the_last_whole_line_ended(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text("one\ntwo\nthr")
    log = LogFile(path)
    first = log.whole()
    with path.open("a") as file:
        file.write("ee\nfour\n")
    later = log.news()
    assert (first.lines, first.first) == (["one", "two"], 1)
    assert (later.lines, later.first) == (["three", "four"], 3)
    assert log.news().lines == []


def test_of_a_server_that_has_ended_the_last_line_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text("loading\nerror: out of memory")
    assert LogFile(path).whole(ended=True).lines == ["loading", "error: out of memory"]


def test_a_log_that_was_begun_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text("one\ntwo\n")
    log = LogFile(path)
    log.whole()
    path.write_text("new\n")
    assert (log.news().lines, log.news().lines) == (["new"], [])


def test_of_a_long_log_the_end_is_read_and_the_lines_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "LIMIT_BYTES", 100)
    path = tmp_path / "server.log"
    path.write_text("".join(f"line {number:04}\n" for number in range(1, 1001)))
    part = LogFile(path).whole()
    assert part.lines[-1] == "line 1000"
    assert part.lines[0] == f"line {part.first:04}"
    (gap,) = part.gap()
    assert f"before line {part.first}" in gap.text


def test_a_log_that_is_gone_is_a_sentence_with_the_name_in_the_spec(tmp_path: Path) -> None:
    with pytest.raises(EngineFailure, match=r"The server's log vllm\.log cannot be read"):
        LogFile(tmp_path / "gone", "vllm.log").whole()
