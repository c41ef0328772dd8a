"""What was asked of a real server against what it does: effective-settings, from log and live values."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchspec.engines.model_file import resolve
from tests.e2e.conftest import MODEL, Cli

pytestmark = pytest.mark.engine

ONE_RUN: dict[str, Any] = {"repeats": 1, "warmup": {"requests": 0}}


def effective(cli: Cli, *options: str, flags: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The effective-settings result of a short run with these engine flags."""
    spec = cli.spec(engine={"flags": flags}, **{**ONE_RUN, **changes})
    cli("run", spec, *options, exit_code=None)
    checks = json.loads((cli.bundle() / "verdicts.json").read_text())["checks"]
    (found,) = (one for one in checks if one["check"] == "effective-settings")
    result: dict[str, Any] = found
    return result


def test_a_flag_that_the_server_refuses(cli: Cli) -> None:
    result = effective(cli, flags={"swa-full": True})
    assert result["reading"] == "refused"
    assert "swa_full is not supported by this model" in result["arithmetic"]


def test_a_draft_model_without_a_speculation_type(cli: Cli) -> None:
    model = resolve(MODEL["source"], sha256=MODEL["sha256"], spec_dir=cli.folder)
    assert model is not None
    shutil.copy(model.path, cli.folder / "draft.gguf")
    options = ("--trust", "--override", "BS307=to see it")
    result = effective(cli, *options, flags={"model-draft": "draft.gguf"})
    assert result["reading"] == "refused"
    assert "no implementations specified for speculative decoding" in result["arithmetic"]


def test_a_context_that_fitting_cut(cli: Cli) -> None:
    flags = {"fit": "on", "fit-target": 99_999_999, "ctx-size": None}
    result = effective(cli, "--override", "BS301=to see it", flags=flags)
    # This server, too, says that even so the model does not fit.
    assert result["reading"] in ("changed", "refused")
    assert "context size reduced from 8192 to 4096" in result["arithmetic"]


@contextmanager
def busy(cores: int) -> Iterator[None]:
    """Other processes that keep every core busy."""
    burn = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(burn) for _ in range(cores)]
    try:
        yield
    finally:
        for one in burners:
            one.kill()
            one.wait()


def test_a_busy_machine_makes_rates_invalid_and_leaves_structure_a_caveat(cli: Cli) -> None:
    with busy(2):
        cli("run", cli.spec(telemetry={"idle_baseline": "0.2 s"}), exit_code=None)
    checks = json.loads((cli.bundle() / "verdicts.json").read_text())["checks"]
    by_name = {(one["check"], one["at"].get("concurrency")): one for one in checks}
    assert by_name["baseline", 2]["reading"] == "contaminated"
    assert by_name["aggregate", 2]["state"] == "invalid"
    shape = by_name["completion-shape", 2]
    assert shape["reading"] == "staircase"
    assert any("contaminated" in caveat for caveat in shape["caveats"])
