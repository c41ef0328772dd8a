"""Judge a saved report again from the spec and the observations that it carries.

A page without its bundle can show that its verdicts follow from its figures, and that its words at
the top and on the cards are those of the verdicts. It cannot show where the figures came from: no
journal, no samples, no manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchspec.errors import BenchspecError, SpecUnreadable, UsageError
from benchspec.judge.judge import judge
from benchspec.judge.result import Verdicts
from benchspec.observations.from_spec import observations_of
from benchspec.observations.model import Observations
from benchspec.report.embedded import DAMAGED, read_result
from benchspec.report.facts import BundleFacts
from benchspec.report.html import render_html, visible_text
from benchspec.report.view import make_view
from benchspec.run.differences import (
    Mismatch,
    as_data,
    difference,
    first_line,
    verdict_mismatches,
)
from benchspec.run.verify import Verification
from benchspec.spec.digest import sha256_of
from benchspec.spec.loader import load
from benchspec.spec.models import Spec
from benchspec.spec.source import parse
from benchspec.store.files import read_whole

PAGE_LIMIT_BYTES = 64 << 20
_TOP = re.compile(
    rb'<ul class="tally".*?</ul>|<ol class="answers".*?</ol>|<p class="open">.*?</p>', re.DOTALL
)
_CARD = re.compile(rb'<article class="card .*?</article>', re.DOTALL)
_NOT_CHECKED = (
    "A page alone: the journal and the samples behind its figures, the bytes of the bundle, "
    "the overrides it names and its words outside its verdicts were not checked."
)
_NOT_COMPLETE = (
    "The page leaves out long counter series or texts: verdicts that rest on a counter and the "
    "words of the cards were not checked."
)


def verify_page(path: Path) -> Verification:
    """Every mismatch between a report and what is judged from the data in it.

    Raises UsageError when the file is no report, StorageFailure when it cannot be read.
    """
    found = Verification(notes=[_NOT_CHECKED])
    html, file = read_whole(path, PAGE_LIMIT_BYTES), path.name
    try:
        result = read_result(html)
        spec = _spec(result)
    except (UsageError, SpecUnreadable):
        raise
    except (BenchspecError, *DAMAGED) as error:
        text = f"It holds no result that can be judged again: {first_line(error)}"
        found.add([Mismatch(file, text)])
        return found
    found.add(_sources(file, spec, result))
    recorded: Verdicts = result["verdicts"]
    true = _judge(spec, result["observations"], result)
    mismatches = list(verdict_mismatches(file, recorded, true))
    if not result["complete"]:
        found.notes.append(_NOT_COMPLETE)
        sure = _without_counters(spec, result, true)
        mismatches = [m for m in mismatches if m.about is None or m.about in sure]
    found.add(mismatches)
    if recorded.benchspec == true.benchspec and result["complete"]:
        found.add(_cards(file, html, spec, result))
    return found


def _spec(result: dict[str, Any]) -> Spec:
    spec = load(parse(result["spec"].encode(), "the spec in the page")).spec
    if spec is None:
        raise BenchspecError("its spec is not a valid spec")
    return spec


def _sources(file: str, spec: Spec, result: dict[str, Any]) -> Iterator[Mismatch]:
    """The spec has the digest that the verdicts name; an audit's figures are those of its spec."""
    if sha256_of(result["spec"].encode()) != result["verdicts"].spec_sha256:
        yield Mismatch(file, "The spec in it is not the one that its verdicts name by SHA-256.")
    if result["verdicts"].origin == "run" or not result["complete"]:
        return
    where = difference(as_data(result["observations"]), as_data(observations_of(spec)))
    if where is not None:
        yield Mismatch(file, f"The figures in it are not those of its spec: {where}.")


def _judge(spec: Spec, seen: Observations, result: dict[str, Any]) -> Verdicts:
    """The verdicts under the overrides that the page names, on the hypotheses that it marks."""
    recorded: Verdicts = result["verdicts"]
    affected = {
        code: [h.id for h in recorded.hypotheses if code in h.overridden]
        for code in recorded.overrides
    }
    return judge(
        spec,
        seen,
        spec_sha256=recorded.spec_sha256,
        overrides=recorded.overrides,
        affected=affected,
    )


def _without_counters(spec: Spec, result: dict[str, Any], true: Verdicts) -> set[str]:
    """Keys of checks and ids of hypotheses that are decided, and the same, with no counter at all:
    what a page that leaves out long series can still show."""
    blind = result["observations"].model_copy(update={"series": []})
    without = _judge(spec, blind, result)
    decided = {c.key for c in without.checks if c.state == "judged"}
    decided |= {h.id for h in without.hypotheses if h.verdict in ("supported", "refuted")}
    return decided - {m.about or "" for m in verdict_mismatches("", without, true)}


def _cards(file: str, html: bytes, spec: Spec, result: dict[str, Any]) -> Iterator[Mismatch]:
    """The words of the verdicts, at the top and in their cards, rendered again from the result."""
    facts = BundleFacts(
        benchspec=result["benchspec"],
        utc=result["utc"],
        origin=result["origin"],
        spec_text=result["spec"],
        spec_sha256=result["verdicts"].spec_sha256,
    )
    again = render_html(make_view(spec, result["observations"], result["verdicts"], facts))
    for what, part in (("answers at its top", _TOP), ("verdict cards", _CARD)):
        if [visible_text(c) for c in part.findall(html)] != [
            visible_text(c) for c in part.findall(again)
        ]:
            text = f"The words of its {what} are not those of the result in it."
            yield Mismatch(file, text)
