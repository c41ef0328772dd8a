"""The summary for a post: a table of verdicts, and nothing from a spec that formats."""

from __future__ import annotations

from dataclasses import replace

from benchspec.report.markdown import markdown
from tests.report import samples


def test_a_row_per_hypothesis_with_its_division() -> None:
    text = markdown(samples.quickstart())

    assert (
        "| H1 | Supported | With four slots, eight requests queue in two batches. | 1 | 0.997 | "
        "`T(8) / (floor(8 / 4) x T(4)) = 1.21 s / (2 x 0.607 s) = 0.997` |"
    ) in text
    assert "What this didn’t finish" in text
    assert "One small model on one machine." in text


def test_text_of_the_spec_formats_nothing() -> None:
    view = samples.quickstart()
    poison = "[x](http://evil) <b>|` \n# y"
    card = replace(view.cards[0], claim=poison, division=poison)

    text = markdown(replace(view, cards=(card,)))

    row = next(line for line in text.splitlines() if "evil" in line)
    assert "| \\[x\\](http://evil) \\<b\\>\\|\\` \\# y |" in row
    assert "| `[x](http://evil) <b>\\|' # y` |" in row
    assert row.replace("\\|", "").count("|") == 7
