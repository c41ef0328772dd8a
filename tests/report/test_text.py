"""Text from strangers, made safe to look at."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from benchspec.report.text import LIMIT, MAX_WORD, anchor, one_line, visible

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def test_controls_are_written_out() -> None:
    assert visible("a\x00b\x1b[31m") == "a␀b␛[31m"
    assert visible("x\u202ey") == "x[U+202E]y"
    assert visible("\ud800") == "[U+D800]"
    assert visible("tab\tline\r\nend") == "tab\tline\nend"


def test_scripts_and_joined_emoji_stay() -> None:
    for text in ("三張卡", "三枚のカード", "سلام", "👩‍👩‍👧", "می‌خواهم"):
        assert visible(text) == text


def test_a_cut_says_how_much_is_missing() -> None:
    assert visible("word " * 1000).endswith(f"… ({5000 - LIMIT:,} more characters)")
    assert visible("x" * 1234) == "x" * MAX_WORD + "… (1,074 more characters)"
    assert one_line("a\n  b\tc") == "a b c"


@given(st.text(max_size=300))
def test_nothing_invisible_is_left(text: str) -> None:
    shown = visible(text)

    assert not set(BIDI) & set(shown)
    assert all(c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"} for c in shown)
    assert visible(shown) == shown


@given(st.text(max_size=200))
def test_an_anchor_is_plain(text: str) -> None:
    assert set(anchor(text)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert anchor(text)


def test_names_that_differ_keep_different_anchors() -> None:
    assert anchor("甲") != anchor("乙")
    assert anchor("check", "queueing four-slots C=8") == "check-queueing-four-slots-c-8"
    assert anchor("x" * 100 + "a") != anchor("x" * 100 + "b")
