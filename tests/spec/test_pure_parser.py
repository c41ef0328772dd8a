"""Where PyYAML was built without libyaml, its own parser gives the same documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.errors import SpecUnreadable
from benchspec.spec import composer
from benchspec.spec.pure_parser import PureParser
from benchspec.spec.source import parse

ROOT = Path(__file__).parents[2]
TEXTS = [
    "a: off # note\nb:\n  - 1\n  -\n  - 'q'\nc: {x: &n [1, 2], y: *n}\nd: |\n  one\n  two\n\ne: 1\n",
    "a: !x 1\nb: {c: 1, c: 2}\n",
    "",
    *[path.read_text() for path in sorted((ROOT / "specs").rglob("*.yaml"))],
]


@pytest.mark.parametrize("text", TEXTS)
def test_both_parsers_agree(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = parse(text.encode(), "spec.yaml")
    monkeypatch.setattr(composer, "_Parser", PureParser)
    slow = parse(text.encode(), "spec.yaml")
    assert slow.data == fast.data
    assert slow.spans == fast.spans
    assert slow.problems == fast.problems


@pytest.mark.parametrize("text", ["a: [1", "a: b: c", "\ta: 1", "a: 'x", "a: @x"])
def test_both_refuse_broken_syntax(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composer, "_Parser", PureParser)
    with pytest.raises(SpecUnreadable, match=r"^spec.yaml:1:\d+: "):
        parse(text.encode(), "spec.yaml")
