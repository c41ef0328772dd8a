"""Everything generated under `docs/` is what the code says now, and no link in the docs is dead."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

_SPEC = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
assert _SPEC is not None
assert _SPEC.loader is not None
generate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)

WRITTEN = sorted({*ROOT.glob("*.md"), *DOCS.glob("*.md")})


def test_generated_files_are_current() -> None:
    stale = [
        str(path.relative_to(ROOT))
        for path, text in generate.rendered().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    assert not stale, "run `make docs`"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_links_to_files_of_the_repository_resolve(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text("utf-8"))
    assert not [target for target in targets if not (page.parent / target).exists()]
