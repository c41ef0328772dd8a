"""A bundle that an older version wrote is judged by this one, and still says what it said.

The archives are never made again: whoever changes the records or the judge learns here what the
change does to evidence that is already published. A reading that changes on purpose is named in
`CHANGED`, with the reason.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchspec.cli.report import command

ARCHIVES = sorted((Path(__file__).parent / "bundles").glob("*.tar.xz"))

CHANGED: dict[tuple[str, str], str] = {}
"""(archive, check) -> why this version reads it differently."""


def readings(verdicts: Mapping[str, Any], archive: str) -> dict[str, str | None]:
    """What each check that spoke said, by check, arm and place."""
    return {
        f"{one['check']} {one['arm']} {json.dumps(one['at'], sort_keys=True)}": one["reading"]
        for one in verdicts["checks"]
        if one["state"] == "judged" and (archive, one["check"]) not in CHANGED
    }


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.partition(".")[0])
def test_an_old_bundle_says_what_it_said(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    before = json.loads((tmp_path / "verdicts.json").read_text())

    done = CliRunner().invoke(command, [str(tmp_path), "--format", "html"])

    assert done.exit_code == 0, done.output
    now = json.loads((tmp_path / "verdicts.json").read_text())
    name = archive.name
    assert {h["id"]: h["verdict"] for h in now["hypotheses"]} == {
        h["id"]: h["verdict"] for h in before["hypotheses"]
    }
    assert readings(before, name).items() <= readings(now, name).items()
    assert len(readings(before, name)) > 20
