"""Bytes to data with places: what is kept, what is noted, what is refused."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import SpecUnreadable
from benchspec.spec.problems import Path, Span
from benchspec.spec.source import Document, parse


def read(text: str) -> Document:
    return parse(text.encode(), "spec.yaml")


def text_at(document: Document, span: Span) -> str:
    """The text of a span that lies on one line."""
    assert span.line == span.end_line
    return document.lines[span.line - 1][span.column - 1 : span.end_column - 1]


def test_keeps_words_and_remembers_numbers() -> None:
    data = read("fit: off\nversion: 1.10\nseed: 017\nquoted: '017'\nnone:\n").data
    assert data == {"fit": "off", "version": 1.1, "seed": 17, "quoted": "017", "none": None}
    assert (data["version"].raw, data["seed"].raw) == ("1.10", "017")


def test_every_key_is_text() -> None:
    assert read('1: a\n1.50: b\ntrue: c\nnull: d\n"": e\n').data == {
        "1": "a",
        "1.50": "b",
        "true": "c",
        "null": "d",
        "": "e",
    }


def test_every_key_and_value_has_a_place() -> None:
    document = read("load:\n  concurrency: [1, 22]\n  mode: 'burst' # why\n")
    assert text_at(document, document.span(("load",), key=True)) == "load"
    assert text_at(document, document.span(("load", "concurrency"))) == "[1, 22]"
    assert text_at(document, document.span(("load", "concurrency", 1))) == "22"
    assert text_at(document, document.span(("load", "mode"))) == "'burst'"
    assert document.span(("load",)) == Span(2, 3, 3, 16)


def test_a_block_ends_with_its_last_item_not_at_the_next_key() -> None:
    document = read("a:\n  - 1\n  - b: 2\n\n# note\nc: |\n  one\n  two\n\nd: 3\n")
    assert document.span(("a",)) == Span(2, 3, 3, 9)
    assert document.span(("c",)) == Span(6, 4, 9, 1)


def test_what_is_absent_is_shown_at_what_should_hold_it() -> None:
    document = read("load:\n  concurrency: [1]\n")
    assert text_at(document, document.span(("load", "requests"))) == "load"
    assert text_at(document, document.span(("load", "concurrency", 7, "x"))) == "concurrency"
    assert document.span(("engine", "kind")) == Span(1, 1, 1, 1)


def test_columns_count_characters() -> None:
    document = read('"你好𝄞": 世界\n')
    assert text_at(document, document.span(("你好𝄞",))) == "世界"


def test_an_alias_is_shown_where_it_is_used_and_its_inside_where_it_was_written() -> None:
    document = read("a: &x {k: 1}\nb: *x\n")
    assert document.data["b"] == {"k": 1}
    assert text_at(document, document.span(("b",))) == "*x"
    assert text_at(document, document.span(("b", "k"))) == "1"


def test_a_byte_order_mark_is_not_part_of_the_first_key() -> None:
    assert parse(b"\xef\xbb\xbfa: 1\n", "spec.yaml").data == {"a": 1}


def test_an_empty_file_has_no_data() -> None:
    assert read("").data is None
    assert read("# only a note\n").data is None


def test_carriage_returns_end_lines() -> None:
    document = read("a: 1\r\nb: 2\r\n")
    assert document.data == {"a": 1, "b": 2}
    assert document.lines[1] == "b: 2"
    assert document.span(("b",)) == Span(2, 4, 2, 5)


def test_a_key_written_twice_is_noted_with_both_places() -> None:
    document = read("a: 1\nb: 2\na: {c: 3}\n")
    (problem,) = document.problems
    assert problem.kind == "duplicate-key"
    assert problem.span == Span(3, 1, 3, 2)
    assert problem.related == ((Span(1, 1, 1, 2), "first written here"),)
    assert document.data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("a: !!python/object/apply:os.system ['true']", "wrong-type", "the tag"),
        ("a: !mine 1", "wrong-type", "the tag `!mine`"),
        ("!mine a: 1", "wrong-value", "has a tag"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "unknown-key", "`<<` (merge key)"),
        ("? [a, b]\n: 1", "wrong-type", "a list or a map as a key"),
        ("model: {{ name }}", "wrong-type", "model has a list or a map as a key"),
        ("a: .inf", "wrong-value", ".inf is not a finite number"),
        ("a: 1e999", "wrong-value", "1e999 is not a finite number"),
        (r'a: "b\0c"', "wrong-value", "U+0000"),
        (r'a: "\e[31m"', "wrong-value", "U+001B"),
        (r'"\u202e": 1', "wrong-value", "invisible character"),
    ],
)
def test_what_is_yaml_but_unwanted_is_noted(text: str, kind: str, said: str) -> None:
    (problem,) = read(text).problems
    assert problem.kind == kind
    assert said in problem.message
    assert problem.help
    assert problem.message.isprintable()


@pytest.mark.parametrize(
    ("data", "place", "said"),
    [
        (b"a: \xff\n", "1:4", "byte 0xff is not UTF-8"),
        (b"ok: 1\nb\xc3: 2", "2:2", "byte 0xc3 is not UTF-8"),
        ("a: 1".encode("utf-16"), "1:1", "UTF-16"),
        ("a: 1".encode("utf-32"), "1:1", "UTF-32"),
        ("a: 1".encode("utf-32-be").join([b"\0\0\xfe\xff", b""]), "1:1", "UTF-32"),
        (b"a: 1\nb: \x00", "2:4", "U+0000"),
        ("a: 1 # x\u2028b: 2".encode(), "1:9", "U+2028"),
        ("a: \u202etxt".encode(), "1:4", "U+202E"),
        (b"a: 1\n\tb: 2", "2:1", "a tab"),
        (b"a: b: c", "1:5", "a second `: `"),
        (b"a: [1, 2", "1:4", "not closed"),
        (b"a: 'x", "1:4", "never closed"),
        (b"a: @x", "1:4", "text cannot start with `@`"),
        (b"- a\nb: 1", "2:1", "list item"),
        (b"a: 1\n---\nb: 2", "2:1", "a second document"),
        (b"a: *x", "1:4", "*x refers to an anchor that is not defined"),
        (b"a: &x [*x]", "1:8", "*x stands inside the value"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(data: bytes, place: str, said: str) -> None:
    with pytest.raises(SpecUnreadable) as refusal:
        parse(data, "spec.yaml")
    assert refusal.value.message.startswith(f"spec.yaml:{place}: ")
    assert said in refusal.value.message
    assert refusal.value.hint


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(string.ascii_letters + string.digits + " :#-{}[],'\"&*!?|>%@`\n\t~.ÄÖ中", max_size=20),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(string.ascii_letters + " -_:#", max_size=8), inner, max_size=4),
    ),
    max_leaves=20,
)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'


def flow(data: Any) -> str:
    """`data` as YAML flow text, every text quoted."""
    if isinstance(data, dict):
        return "{" + ", ".join(f"{quoted(k)}: {flow(v)}" for k, v in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(flow(item) for item in data) + "]"
    if isinstance(data, str):
        return quoted(data)
    return "null" if data is None else str(data).lower()


def leaves(data: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    if isinstance(data, dict):
        return [leaf for k, v in data.items() for leaf in leaves(v, (*path, k))]
    if isinstance(data, list):
        return [leaf for i, v in enumerate(data) for leaf in leaves(v, (*path, i))]
    return [(path, data)]


@given(DATA)
def test_reads_back_what_was_written_and_points_at_it(data: Any) -> None:
    document = read(flow(data))
    assert document.data == data
    assert document.problems == []
    for path, leaf in leaves(data):
        assert text_at(document, document.span(path)) == flow(leaf)


@given(
    st.dictionaries(st.text(string.ascii_letters, min_size=1), st.text(string.ascii_letters + " "))
)
def test_points_at_the_keys_of_a_block(data: dict[str, str]) -> None:
    lines = [f"{key}:  {quoted(value)}  # {value}" for key, value in data.items()]
    document = read("\n".join(lines))
    for number, key in enumerate(data, 1):
        span = document.span((key,), key=True)
        assert (span.line, text_at(document, span)) == (number, key)
        assert text_at(document, document.span((key,))) == quoted(data[key])
