"""The result in the page is the result."""

from __future__ import annotations

import pytest

from benchspec.errors import BenchspecError
from benchspec.observations.model import Observations, Request, Series, Step
from benchspec.report.embedded import MAX_SERIES_VALUES, read_result, result_json
from benchspec.report.html import render_html
from tests.report import samples


def test_observations_and_verdicts_come_back_as_they_were(quickstart_html: bytes) -> None:
    result = read_result(quickstart_html)

    assert result["observations"] == samples.quickstart_observations()
    assert result["verdicts"] == samples.quickstart_verdicts(result["spec"])
    assert result["complete"] is True
    assert result["spec"] == samples.QUICKSTART.read_text("utf-8")


def test_a_request_of_which_nothing_is_known_is_still_counted() -> None:
    seen = Observations(steps=[Step(arm="a", requests=[Request(), Request(ok=False)])])

    assert _through_a_page(seen) == seen


def test_a_long_counter_series_is_left_out_and_said_so() -> None:
    long = Series(counter="power", unit="W", values=[1.0] * (MAX_SERIES_VALUES + 1))
    text = result_json(
        Observations(series=[long]), samples.quickstart_verdicts(""), samples.facts("")
    )

    assert '"complete":false' in text


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "\u2028", "\u202e"])
def test_no_text_ends_the_script_element(text: str) -> None:
    told = samples.facts(text)
    written = result_json(Observations(), samples.quickstart_verdicts(text), told)

    assert "<" not in written
    assert written.isascii()


def test_a_page_without_a_result_is_refused() -> None:
    with pytest.raises(BenchspecError, match="holds no benchspec result"):
        read_result(b"<html></html>")


def test_a_damaged_result_is_refused(quickstart_html: bytes) -> None:
    broken = quickstart_html.replace(b'{"format_version":1', b'{"format_version":1"', 1)

    with pytest.raises(BenchspecError, match="damaged"):
        read_result(broken)


def _through_a_page(seen: Observations) -> Observations:
    text = samples.QUICKSTART.read_text("utf-8")
    view = samples.view_of(text, seen, samples.quickstart_verdicts(text), samples.facts(text))
    found: Observations = read_result(render_html(view))["observations"]
    return found
