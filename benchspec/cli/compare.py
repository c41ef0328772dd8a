"""`benchspec compare`: two runs side by side, or a rerun against what was published."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import click

from benchspec.cli.console import emit_json, err, examples, out, paint
from benchspec.errors import EXIT_DONE, EXIT_NEGATIVE

if TYPE_CHECKING:
    from benchspec.judge.comparability import Side

FORMAT_VERSION = 1


@click.command(
    epilog=examples(
        "benchspec compare runs/before runs/after",
        "benchspec compare --reproduce reports/quickstart runs/mine",
        "benchspec compare --reproduce saved-report.html runs/mine",
    )
    + "Exit codes: 0 compared, or inside the band; 1 nothing to compare, or outside or undecided; "
    "2 usage; 3 a bundle that cannot be read."
)
@click.argument(
    "bundles", nargs=-1, required=True, metavar="BUNDLE...", type=click.Path(path_type=Path)
)
@click.option(
    "--reproduce",
    is_flag=True,
    help="Of two, the published one and yours: is yours inside the published band?",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(bundles: tuple[Path, ...], reproduce: bool, as_json: bool) -> None:
    """Put each BUNDLE beside the first: what differs, then every figure of the steps they share.

    A BUNDLE is a run's folder, an audit's folder, a saved report.html, or a spec with observations.
    A ratio is of the medians, with its range over all pairs of repeats. It is not quotable where the
    two are not comparable; a difference that nobody registered needs four repeats of each.

    With --reproduce, the band is the published smallest to largest repeat, widened at each end by
    their range and by 5 % of the median at least. A figure is inside when your median is.
    """
    if len(bundles) < 2 or (reproduce and len(bundles) != 2):
        many = "exactly two bundles" if reproduce else "two bundles or more"
        raise click.UsageError(f"needs {many}; {len(bundles)} given")
    from benchspec.run.side import read_side

    labels = ("published", "rerun") if reproduce else map(_letter, range(len(bundles)))
    sides = [read_side(path, label) for path, label in zip(bundles, labels, strict=True)]
    sys.exit(_reproduce(sides, as_json) if reproduce else _compare(sides, as_json))


def _compare(sides: list[Side], as_json: bool) -> int:
    from benchspec.cli import compare_text
    from benchspec.judge.side_by_side import hypotheses, side_by_side

    first, *others = sides
    found, asked = [side_by_side(first, other) for other in others], hypotheses(sides)
    if as_json:
        emit_json(
            {
                **_head(sides),
                "comparisons": [
                    {"a": 0, "b": number, **one.model_dump(mode="json")}
                    for number, one in enumerate(found, 1)
                ],
                "hypotheses": [one.model_dump(mode="json") for one in asked],
            }
        )
    else:
        for line in compare_text.render(sides, found, asked, paint):
            out(line)
    err(f"next: benchspec compare --reproduce {_named(sides[0])} {_named(sides[1])}")
    return EXIT_DONE if all(one.steps for one in found) else EXIT_NEGATIVE


def _reproduce(sides: list[Side], as_json: bool) -> int:
    from benchspec.cli import compare_text
    from benchspec.judge.reproduction import reproduce

    published, mine = sides
    found = reproduce(published, mine)
    if as_json:
        emit_json({**_head(sides), "reproduction": found.model_dump(mode="json")})
    else:
        for line in compare_text.render_reproduction(sides, found, paint):
            out(line)
    if found.answer == "inside":
        err(f"next: benchspec verify {_named(published)}")
        return EXIT_DONE
    err(f"next: benchspec compare {_named(published)} {_named(mine)}")
    return EXIT_NEGATIVE


def _letter(number: int) -> str:
    return ascii_uppercase[number] if number < len(ascii_uppercase) else f"#{number + 1}"


def _head(sides: list[Side]) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "bundles": [
            {
                "label": side.label,
                "path": side.name,
                "study": side.verdicts.study,
                "origin": side.verdicts.origin,
                "benchspec": side.version,
                "spec_sha256": side.verdicts.spec_sha256,
                "broken": side.broken,
                "remarks": list(side.remarks),
            }
            for side in sides
        ],
    }


def _named(side: Side) -> str:
    return shlex.quote(side.name)
