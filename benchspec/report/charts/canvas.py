"""A chart as SVG that page style sheets, dark mode and the PDF renderer all agree on.

matplotlib writes style attributes and its own ids. Both are rewritten: presentation attributes,
which a style sheet may override and WeasyPrint obeys (it ignores page CSS inside an SVG), and ids
that carry the chart's, so that many charts share one page. Ink becomes `currentColor`.
"""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from benchspec.report.charts.chart import Chart
from benchspec.report.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#20262d"
GRID = "#d5dae0"
FAMILY = "'DejaVu Sans', Verdana, sans-serif"

_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "benchspec",
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "text.parse_math": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.use_locale": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.6,
    "lines.markersize": 6,
    "figure.constrained_layout.use": True,
    "path.simplify": False,
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def to_svg(chart: Chart) -> str:
    """`chart` painted and rewritten: one `<svg>` element for use inside HTML.

    The result depends on the chart and on the library versions alone: no date, no random id.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    width, height = chart.size
    buffer = io.StringIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        figure = Figure(figsize=(width / 72, height / 72))
        figure.patch.set_visible(False)
        chart.paint(figure)
        for axes in figure.axes:
            axes.patch.set_visible(False)
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    return _rewrite(buffer.getvalue(), chart)


def load_axis(axes: Axes, loads: list[float], label: str) -> None:
    """A logarithmic x axis (base 2) with a tick at each load that was measured, and no other."""
    axes.set_xscale("log", base=2)
    few = loads if len(loads) <= 10 else loads[:: -(-len(loads) // 10)]
    axes.set_xticks(few, [f"{load:g}" for load in few])
    axes.minorticks_off()
    axes.set_xlim(loads[0] / 1.25, loads[-1] * 1.25)
    axes.set_xlabel(label)


def from_zero(axes: Axes) -> None:
    """A y axis from zero to a little above the highest mark, so that none is cut."""
    highest = axes.dataLim.y1
    axes.set_ylim(0, highest * 1.12 if 0 < highest < math.inf else 1)


def _rewrite(source: str, chart: Chart) -> str:
    root = ElementTree.fromstring(source)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = _attributes(element.attrib)
    _drop_style_elements(root)
    _own_ids(root, f"{chart.id}-")
    width, height = chart.size
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "chart",
        "role": "img",
        "aria-labelledby": f"{chart.id}-title {chart.id}-desc",
        "viewBox": f"0 0 {width:g} {height:g}",
        "color": INK,
        "fill": "currentColor",
        "font-family": FAMILY,
        "stroke-linejoin": "round",
    }
    root.insert(0, _named("desc", f"{chart.id}-desc", chart.description))
    root.insert(0, _named("title", f"{chart.id}-title", chart.title))
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Style declarations as attributes of their own, numbers to a hundredth of a point."""
    plain = {_local(name): value for name, value in attributes.items() if name != "style"}
    for declaration in attributes.get("style", "").split(";"):
        name, colon, value = declaration.partition(":")
        if colon and name.strip() != "font-family":
            plain[name.strip()] = value.strip()
    return {name: _value(name, value) for name, value in plain.items()}


def _value(name: str, value: str) -> str:
    if name in {"id", "href", "clip-path"}:
        return value
    if value == INK:
        return "currentColor"
    return re.sub(r"-?\d+\.\d+", _rounded, re.sub(r"\s*\n\s*", " ", value)).strip()


def _rounded(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _drop_style_elements(root: ElementTree.Element) -> None:
    for defs in root.iter("defs"):
        for style in defs.findall("style"):
            defs.remove(style)


def _own_ids(root: ElementTree.Element, prefix: str) -> None:
    """Prefix the ids that something refers to; drop the rest."""
    used = set()
    for element in root.iter():
        for name in ("href", "clip-path"):
            target = re.search(r"#([^)]+)", element.get(name, ""))
            if target:
                used.add(target[1])
                element.set(name, element.get(name, "").replace("#", f"#{prefix}"))
    for element in root.iter():
        identifier = element.attrib.pop("id", None)
        if identifier in used:
            element.set("id", f"{prefix}{identifier}")


def _named(tag: str, identifier: str, text: str) -> ElementTree.Element:
    element = ElementTree.Element(tag, {"id": identifier})
    element.text = visible(text)
    return element
