"""`benchspec report`: render a bundle's report again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchspec.cli.console import BUNDLE, emit_json, err, examples, out, paint, then
from benchspec.errors import BenchspecError

if TYPE_CHECKING:
    from benchspec.run.finish import Judged, Rendered
    from benchspec.store.bundle import Bundle

FORMATS = ("html", "pdf", "extras", "md")


@click.command(
    epilog=examples(
        f"benchspec report {BUNDLE}",
        f"benchspec report {BUNDLE} --format md",
        "benchspec report runs --all",
    )
    + "Exit codes: 0 rendered, 1 the evidence is not what was recorded, 2 not a bundle."
)
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    default="html,pdf",
    show_default=True,
    help="html, pdf and extras (badge, card, fragment, citation, crate) are files; md goes to "
    "stdout: a summary for a post.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the files; without it all of the bundle's are made again.",
)
@click.option("--url", help="Where it will be published; with --output.")
@click.option("--all", "many", is_flag=True, help="BUNDLE is a folder of bundles: index them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    bundle: Path, formats: str, output: Path | None, url: str | None, many: bool, as_json: bool
) -> None:
    """Judge the evidence in BUNDLE with this version and render its report again.

    Refuses when a file of the evidence was changed: a new manifest would hide that. With --all,
    write an index.html over the bundles in a folder.
    """
    from benchspec.run.finish import judge_bundle
    from benchspec.store.bundle import open_bundle

    wanted = _formats(formats)
    if url is not None and output is None:
        raise click.UsageError("--url needs --output: a bundle names only what its spec names")
    if many:
        _index(bundle, as_json=as_json)
        return
    opened = open_bundle(bundle)
    _refuse_if_changed(opened)
    written: list[Path] = []
    warning = None
    if wanted - {"md"}:
        judged, warning, written = _write(opened, wanted, output, url)
    else:
        judged = judge_bundle(opened)
    if as_json:
        emit_json(_data(opened, judged, written))
    elif "md" in wanted:
        out(_markdown(opened, judged).rstrip("\n"))
    else:
        _print(judged, written)
    if warning is not None:
        err(f"{paint('warning', 'warning', sys.stderr)}: {warning}")
    then("benchspec", "verify", opened.root)


def _formats(text: str) -> set[str]:
    wanted = {part.strip() for part in text.split(",") if part.strip()}
    if not wanted or not wanted <= set(FORMATS):
        known = ", ".join(FORMATS)
        raise click.BadParameter(f"{text!r} names none of {known}", param_hint="--format")
    return wanted


def _index(folder: Path, *, as_json: bool) -> None:
    from benchspec.report.index import render_index
    from benchspec.run.reports import find_reports
    from benchspec.store.files import write_whole

    found = find_reports(folder)
    target = folder / "index.html"
    write_whole(target, render_index(found, folder.resolve().name))
    if as_json:
        emit_json({"format_version": 1, "files": [str(target)], "reports": len(found)})
    else:
        out(f"index: {target} ({len(found)} report{'' if len(found) == 1 else 's'})")


def _refuse_if_changed(bundle: Bundle) -> None:
    from benchspec.store import manifest
    from benchspec.store.files import read_whole

    recorded = bundle.root / manifest.MANIFEST
    if not recorded.is_file():
        return
    differences = manifest.compare(bundle.root, read_whole(recorded, 64 << 20))
    changed = [d for d in differences if d.path not in manifest.RENDERED]
    if changed:
        raise BenchspecError(
            f"nothing was rendered: {changed[0].sentence()}",
            hint=f"benchspec verify {bundle.root} names every file and verdict that it moves",
        )


def _write(
    bundle: Bundle, wanted: set[str], output: Path | None, url: str | None
) -> tuple[Judged, str | None, list[Path]]:
    from benchspec.run.finish import finish, judge_bundle, render
    from benchspec.store import manifest

    if output is None:
        judged, rendered = finish(bundle)
        return judged, rendered.warning, [p for p in (bundle.html, bundle.pdf) if p.is_file()]
    judged = judge_bundle(bundle)
    evidence = manifest.evidence(bundle.root)
    rendered = render(bundle, judged, evidence, url=url, pdf="pdf" in wanted)
    return judged, rendered.warning, _write_apart(rendered, wanted, output)


def _write_apart(rendered: Rendered, wanted: set[str], output: Path) -> list[Path]:
    from benchspec.store.files import storage, write_whole

    files: dict[str, bytes] = {}
    if "html" in wanted:
        files["report.html"] = rendered.html
    if "pdf" in wanted and rendered.pdf is not None:
        files["report.pdf"] = rendered.pdf
    if "extras" in wanted:
        files |= rendered.extras
    with storage(output, "created"):
        output.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_whole(output / name, data)
    return [output / name for name in files]


def _markdown(bundle: Bundle, judged: Judged) -> str:
    from benchspec.report.markdown import markdown
    from benchspec.report.view import make_view
    from benchspec.run.resolved import report_facts
    from benchspec.store import manifest

    facts = report_facts(bundle, judged.resolved, manifest.evidence(bundle.root))
    return markdown(make_view(judged.spec, judged.observations, judged.verdicts, facts))


def _print(judged: Judged, written: list[Path]) -> None:
    for one in judged.verdicts.hypotheses:
        out(f"{one.id} {one.verdict}: {one.claim}")
    for path in written:
        out(f"report: {path}")


def _data(bundle: Bundle, judged: Judged, written: list[Path]) -> dict[str, object]:
    return {
        "format_version": 1,
        "bundle": str(bundle.root),
        "files": [str(path) for path in written],
        "hypotheses": [{"id": h.id, "verdict": h.verdict} for h in judged.verdicts.hypotheses],
        "unfinished": len(judged.verdicts.unfinished),
    }
