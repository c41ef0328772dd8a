"""What each arm gives and takes: rates, and the context and memory they cost."""

from __future__ import annotations

from benchspec.observations.model import ArmObservation, Observations, Setting
from benchspec.report.html import render_html
from benchspec.report.parts import Table
from tests.report import samples


def table(**arms: ArmObservation) -> Table | None:
    text = samples.QUICKSTART.read_text("utf-8")
    seen = samples.quickstart_observations().model_copy(update={"arms": arms})
    told = samples.facts(text)
    return samples.view_of(text, seen, samples.quickstart_verdicts(text), told).comparison.trade


def column(found: Table | None, head: str) -> list[str]:
    assert found is not None
    place = found.head.index(head)
    return [row[place].text for row in found.rows]


def test_the_longest_context_and_the_memory_stand_beside_the_rates() -> None:
    used = {"gpu0.memory_used_mib": 18_890, "gpu1.memory_used_mib": 18_888, "gpu0.name": "a card"}
    found = table(
        **{
            "four-slots": ArmObservation(
                context_per_slot=262_144, kv_bytes=2**30, kv_tokens=524_288, identity=dict(used)
            ),
            "one-slot": ArmObservation(
                settings=[Setting(name="max-model-len", found=236_000)], weights_bytes=2**31
            ),
        }
    )
    assert column(found, "Arm") == ["four-slots", "one-slot"]
    assert column(found, "Longest context, tokens") == ["262,144", "236,000"]
    assert column(found, "Contexts together, tokens") == ["524,288", "–"]
    assert column(found, "KV cache, MiB") == ["1,024", "–"]
    assert column(found, "Weights, MiB") == ["–", "2,048"]
    assert column(found, "Devices' memory in use, MiB") == ["37,778", "–"]
    assert all(float(rate) > 50 for rate in column(found, "Decode, tok/s"))


def test_what_no_arm_has_is_no_column() -> None:
    found = table(**{"four-slots": ArmObservation(context_per_slot=256)})
    assert found is not None
    assert found.head[-1] == "Longest context, tokens"
    assert column(found, "Longest context, tokens") == ["256", "–"]


def test_without_a_cost_or_a_second_arm_there_is_no_table() -> None:
    assert table() is None
    assert samples.blog_post().comparison.trade is None


def test_it_is_on_the_page() -> None:
    assert b"What each arm gives and takes" in render_html(samples.quickstart())


def test_an_empty_study_has_none() -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts = samples.quickstart_verdicts(text)
    view = samples.view_of(text, Observations(), verdicts, samples.facts(text))
    assert view.comparison.trade is None
