"""A log in another form than the known one says so, instead of saying nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.engines import log_drift
from benchspec.engines.llama_cpp_log import FORM, MARKS
from benchspec.engines.log_reading import numbered
from benchspec.store.records import LogFinding

LOGS = sorted((Path(__file__).parent / "data").glob("*.log"))
START = LOGS[0].read_text().splitlines()


def drift(lines: list[str]) -> list[LogFinding]:
    return log_drift.drift(numbered(lines, FORM), FORM, MARKS)


def changed(edit: Callable[[str], str]) -> list[str]:
    return [edit(line) for line in START]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_a_real_start_is_in_the_known_form(log: Path) -> None:
    assert drift(log.read_text().splitlines()) == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("n_slots = ", "n_slots: ", "slots"),
        (", kv_unified = ", ", unified = ", "slots"),
        ("flash_attn            = ", "flash_attn            : ", "flash attention"),
        (
            "llama_context: n_ctx                 =",
            "llama_context: n_ctx (total) is",
            "context size",
        ),
        ("print_info: n_layer ", "info: n_layer ", "layers"),
    ],
)
def test_a_line_in_other_words_is_quoted(old: str, new: str, name: str) -> None:
    (finding,) = drift(changed(lambda line: line.replace(old, new)))
    assert finding.effect == "warning"
    assert f"it prints its {name} as: " in finding.text
    assert new.strip() in finding.text
    assert finding.line is not None
    assert "b11434" in finding.text


def test_lines_that_are_gone_are_named() -> None:
    (finding,) = drift(
        [line for line in START if "flash_attn" not in line and "n_slots" not in line]
    )
    assert finding.text.endswith("it does not print its flash attention, slots")


def test_a_quiet_log_is_not_another_form() -> None:
    quiet = ["common_params_print_info: verbosity = 3 (adjust with the `-lv N` CLI arg)"] * 40
    assert drift(quiet) == []
    assert drift([]) == []
    assert drift(START[:3]) == []


def test_a_log_of_something_else_is() -> None:
    (finding,) = drift(["INFO: Uvicorn running"] * 40)
    assert "layers, context size, flash attention, slots" in finding.text


def test_what_the_model_says_of_itself_is_not_the_servers_word() -> None:
    line = "llama_model_loader: - kv   2: general.name str = n_slots flash_attn n_layer"
    assert drift([*START[:5], line, *START[5:]]) == []


def test_what_comes_after_the_start_does_not_matter() -> None:
    assert drift([*START, "slot x: n_slots are busy", "flash_attn: fine"]) == []


@given(st.lists(st.text(max_size=60), max_size=30))
def test_no_text_breaks_it(lines: list[str]) -> None:
    for finding in drift(lines):
        assert finding.text.isprintable()


def test_the_order_of_lines_does_not_matter_before_it_listens() -> None:
    body = START[: next(i for i, line in enumerate(START) if "listening on" in line)]
    first, rest = body[:2], body[2:]
    random.Random(1).shuffle(rest)
    assert drift(first + rest) == []
