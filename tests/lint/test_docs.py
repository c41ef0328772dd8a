"""The generated pages in `docs/rules/` are those of the rules as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"

_SPEC = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
assert _SPEC is not None and _SPEC.loader is not None
generate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)

PAGES = {name: page for name, page in generate.PAGES.items() if name.startswith("rules/")}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    wanted = generate.MARK + PAGES[name]().rstrip() + "\n"
    assert (DOCS / name).read_text("utf-8") == wanted, "run `make docs`"


def test_there_is_no_page_of_a_rule_that_does_not_exist() -> None:
    assert {f"rules/{path.name}" for path in (DOCS / "rules").iterdir()} == set(PAGES)
