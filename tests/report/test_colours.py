"""Contrast in both themes (WCAG 2.2: text 4.5:1, marks of a chart 3:1)."""

from __future__ import annotations

import re

import pytest

from benchspec.report.charts.chart import STYLES
from benchspec.report.html import template_dir
from benchspec.report.parts import STATES

TEXT = ("ink", "quiet", "link", "supported", "refuted", "inconclusive", "invalid", "not-run")


def variables(sheet: str) -> dict[str, str]:
    text = (template_dir() / sheet).read_text("utf-8")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sheet", ["report.css", "dark.css"])
@pytest.mark.parametrize("ground", ["paper", "soft"])
@pytest.mark.parametrize("word", TEXT)
def test_text_can_be_read(sheet: str, ground: str, word: str) -> None:
    colours = variables(sheet)

    assert contrast(colours[word], colours[ground]) >= 4.5


def test_the_shapes_of_the_pdf_have_the_colours_of_the_page() -> None:
    colours = variables("report.css")
    macros = (template_dir() / "macros.html.j2").read_text("utf-8")
    shapes = dict(re.findall(r'"([\w-]+)": "(#[0-9a-f]{6})"', macros))

    assert shapes == {state: colours[state] for state in STATES}


@pytest.mark.parametrize("style", STYLES[:4], ids=lambda s: s.colour)
def test_marks_can_be_seen(style: object) -> None:
    colour = getattr(style, "colour", "")
    dark = (template_dir() / "dark.css").read_text("utf-8")
    in_the_dark = re.search(rf'\[stroke="{colour}"\] {{ stroke: (#\w+)', dark)

    assert in_the_dark
    assert contrast(in_the_dark[1], variables("dark.css")["paper"]) >= 3
    assert contrast(colour, variables("report.css")["paper"]) >= 2.9
