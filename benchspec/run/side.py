"""A run to be compared, read from whatever was kept of it: a bundle, a saved report, an audit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchspec.errors import BenchspecError, StorageFailure, UsageError
from benchspec.judge.case import Case
from benchspec.judge.comparability import Side
from benchspec.report.embedded import DAMAGED, read_result
from benchspec.run.audit import Audited, audit
from benchspec.run.differences import first_line
from benchspec.run.finish import judge_bundle
from benchspec.run.verify_page import PAGE_LIMIT_BYTES
from benchspec.spec.loader import load, read
from benchspec.spec.source import parse
from benchspec.store import manifest
from benchspec.store.bundle import Bundle, open_bundle
from benchspec.store.files import read_whole

Called = tuple[str, str]
"""What sentences call a run, and the path that was given for it."""

_PAGE, _SPEC, _MANIFEST_LIMIT_BYTES = "report.html", "spec.yaml", 64 << 20


def read_side(path: Path, label: str) -> Side:
    """The run at `path`, a bundle's folder, an audit's, a report.html or an audited spec.

    Sentences will call it `label`. Raises UsageError where it is none of these, StorageFailure
    where it is damaged.
    """
    called = (label, str(path))
    if not path.is_file():
        return _folder(path, called)
    return (_audit if path.suffix in (".yaml", ".yml") else _page)(path, called)


def _folder(path: Path, called: Called) -> Side:
    begun = (path / "journal.jsonl").is_file() or (path / manifest.MANIFEST).is_file()
    if not begun and (path / _PAGE).is_file():
        return _page(path / _PAGE, called)
    if not begun and (path / _SPEC).is_file():
        return _audit(path / _SPEC, called)
    return _bundle(open_bundle(path), called)


def _bundle(bundle: Bundle, called: Called) -> Side:
    judged = judge_bundle(bundle)
    recorded = bundle.root / manifest.MANIFEST
    remarks = () if recorded.is_file() else ("It is unfinished: it has no MANIFEST.sha256.",)
    return Side(
        *called,
        case=Case(judged.spec, judged.observations),
        verdicts=judged.verdicts,
        version=str(judged.resolved.get("benchspec", "")) or None,
        broken=next(_changed(bundle), None),
        remarks=remarks,
    )


def _changed(bundle: Bundle) -> Iterator[str]:
    """How the evidence differs from what was recorded; rendered files do not matter here."""
    recorded = bundle.root / manifest.MANIFEST
    if not recorded.is_file():
        return
    for one in manifest.compare(bundle.root, read_whole(recorded, _MANIFEST_LIMIT_BYTES)):
        if one.path not in manifest.RENDERED:
            yield one.sentence().rstrip(".")


def _page(path: Path, called: Called) -> Side:
    name = called[1]
    try:
        result = read_result(read_whole(path, PAGE_LIMIT_BYTES))
        spec = load(parse(result["spec"].encode(), f"the spec in {name}")).spec
    except UsageError as error:
        raise UsageError(
            f"{name} is no bundle, no report and no audited spec: {error.message}",
            hint="Name a bundle's folder, a saved report.html, or a spec with observations.",
        ) from error
    except (BenchspecError, *DAMAGED) as error:
        raise StorageFailure(
            f"{name} holds no result that can be read: {first_line(error)}",
            hint=f"benchspec verify {name} says more",
        ) from error
    if spec is None:
        raise StorageFailure(f"The spec in {name} is not a valid spec.")
    measured = result["origin"] == "run"
    return Side(
        *called,
        case=Case(spec, result["observations"]),
        verdicts=result["verdicts"],
        version=str(result["benchspec"]) if measured else None,
        remarks=("It is a page alone: what its figures rest on was not read.",),
    )


def _audit(path: Path, called: Called) -> Side:
    name = called[1]
    audited = audit(read(path))
    if not isinstance(audited, Audited):
        raise UsageError(
            f"{name} is not a valid spec: {audited.findings[0].message}",
            hint=f"benchspec lint {name} names every defect.",
        )
    if not audited.observations.steps:
        raise UsageError(
            f"{name} holds no figures: it is a spec without observations.",
            hint="Name the folder that `benchspec run` printed, runs/<time>-<study>.",
        )
    return Side(*called, case=audited.case, verdicts=audited.verdicts)
