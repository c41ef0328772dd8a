"""Files made to crash, to hang or to fill the memory: refused in a sentence, at once.

No wall clock here: what bounds the work is that events and values are counted, which a file made
to explode would take hours to get through, were they not.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchspec.errors import SpecUnreadable
from benchspec.spec.loader import MAX_PROBLEMS, load, read
from benchspec.spec.source import MAX_BYTES, parse

HEAD = "benchspec: 1\nstudy: {title: x}\n"


def bomb(width: int, levels: int) -> str:
    lines = ["a0: &a0 [x, x, x]"]
    for level in range(1, levels):
        row = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} [{row}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (bomb(10, 40), "with its aliases the file has more than 50,000 values"),
        ("a: &a " + "x" * 500_000 + "\nb: [" + "*a," * 20_000 + "]", "1,000,000 characters"),
        ("a: [" + "b," * 50_001 + "]", "more than 50,000 values"),
        ("[" * 65 + "]" * 65, "nested more than 64 deep"),
        ("[" * 999_999, "nested"),
        ("{" * 999_999, "nested"),
        ("- " * 499_999, "nested more than 64 deep"),
        ("? " * 499_999, "nested more than 64 deep"),
        (" " * (MAX_BYTES + 1), "1,000,001 bytes"),
    ],
)
def test_a_file_beyond_the_limits_is_refused(text: str, said: str) -> None:
    with pytest.raises(SpecUnreadable, match=said):
        parse(text.encode(), "spec.yaml")


def test_aliases_do_not_nest_deeper_than_text_may() -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [[[[[[[[[[*a{n - 1}]]]]]]]]]]" for n in range(1, 10)]
    with pytest.raises(SpecUnreadable, match="nested more than 64 deep"):
        parse("\n".join(lines).encode(), "spec.yaml")


def test_the_deepest_allowed_file_is_read() -> None:
    assert parse(("[" * 64 + "]" * 64).encode(), "spec.yaml").problems == []


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "".join(f"concurrenc{n}: 1\n" for n in range(20_000)),
        HEAD + "observations:\n" + "  a: {b: 1}\n" * 12_000,
        HEAD + "repeats: " + "k" * 900_000,
        HEAD + "? " + "k" * 900_000 + "\n: 1",
        HEAD + "x: " + "1_" * 400_000 + "x",
        HEAD + "repeats: " + "9" * 400,
        HEAD + "repeats: " + "9" * 900_000,
        HEAD + "seeds: [" + "1e308, " * 10_000 + "]",
        HEAD + "engine: {kind: vllm, flags: {x: [" + "017," * 45_000 + "]}}",
        HEAD
        + "engine: {kind: vllm, env: {"
        + ", ".join(f"k{n}: true" for n in range(20_000))
        + "}}",
        HEAD + "arms: [" + "{id: A, engine: {flags: {a: 1}}}, " * 5_000 + "]",
        HEAD
        + "hypotheses:\n"
        + "".join(
            f"  - {{id: H{n}, claim: c, test: {{check: c, at: {{arm: {'a' * 50}{n}}}}}}}\n"
            for n in range(199)
        )
        + "arms:\n"
        + "".join(f"  - {{id: {'a' * 50}{n}x}}\n" for n in range(199)),
    ],
)
def test_ten_thousand_problems_are_a_page_of_sentences(text: str) -> None:
    loaded = load(parse(text.encode(), "spec.yaml"))
    assert 0 < len(loaded.problems) <= MAX_PROBLEMS + 1
    for problem in loaded.problems:
        assert len(problem.message) < 500
        assert problem.message.isprintable()


@given(st.binary(max_size=400))
@example(b"%YAML 9.9\n---\na: 1")
@example(b"a: \xf4\x90\x80\x80")
@example(b"\xef\xbb\xbf\xef\xbb\xbfa: 1")
@example(b"!<!> a")
@example(b"? ? ? a")
def test_random_bytes_are_data_or_a_sentence(data: bytes) -> None:
    try:
        document = parse(data, "spec.yaml")
    except SpecUnreadable as refusal:
        assert refusal.message.startswith("spec.yaml:")
        assert refusal.message.isprintable()
    else:
        load(document)


@given(st.text("abk:-? []{},#&*!|>'\"%@`\n\t 0123.~<=", max_size=60))
def test_random_punctuation_is_data_or_a_sentence(text: str) -> None:
    try:
        load(parse(text.encode(), "spec.yaml"))
    except SpecUnreadable as refusal:
        assert refusal.message.isprintable()
        assert refusal.hint


def test_a_file_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SpecUnreadable, match="No such file") as refusal:
        read(tmp_path / "absent.yaml")
    assert "benchspec new" in str(refusal.value.hint)
    with pytest.raises(SpecUnreadable, match="not a file"):
        read(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(SpecUnreadable, match="not a file"):
        read(pipe)


def test_no_more_of_a_file_is_read_than_a_spec_may_have(tmp_path: Path) -> None:
    sparse = tmp_path / "huge.yaml"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SpecUnreadable, match="a spec has at most 1,000,000"):
        read(sparse)
