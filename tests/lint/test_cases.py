"""The Markdown cases: one file per rule, prose and specs, the expectation on the offending line.

A block must give exactly the expected findings of its file's rule; one without a comment must be
silent for that rule. Findings of other rules are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from benchspec.lint.rules import ALL
from tests.lint.specs import HERE, described, expected, found, linted, over_base

_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[object]:
    for path in sorted((HERE / "cases").glob("BS*.md")):
        for number, text in enumerate(_BLOCK.findall(path.read_text("utf-8")), 1):
            yield pytest.param(path.stem, text, id=f"{path.stem}-{number}")


@pytest.mark.parametrize(("code", "text"), list(blocks()))
def test_a_case(code: str, text: str) -> None:
    spec = over_base(text)
    result = linted(spec)
    wanted = {key: n for key, n in expected(spec).items() if key[1] == code}
    assert found(result, code) == wanted, described(result)


@pytest.mark.parametrize("module", ALL, ids=lambda module: module.RULE.code)
def test_every_rule_has_cases_that_fire_and_cases_that_are_silent(module: object) -> None:
    code = module.RULE.code  # type: ignore[attr-defined]
    path = HERE / "cases" / f"{code}.md"
    texts = _BLOCK.findall(path.read_text("utf-8"))
    fires = [any(key[1] == code for key in expected(text)) for text in texts]
    assert any(fires) and not all(fires)
