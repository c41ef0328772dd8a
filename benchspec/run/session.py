"""`benchspec run` and `benchspec resume`, from a spec that may be run to a judged bundle.

The order is the contract: parse, lint, trust, preflight; nothing is on disk before all have passed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchspec import __version__
from benchspec.engines.model_file import ModelFile, resolve
from benchspec.errors import (
    EXIT_DONE,
    EXIT_ENVIRONMENT,
    EXIT_INTERRUPTED,
    EXIT_INVALID,
    BenchspecError,
    EnvironmentFailure,
    StorageFailure,
)
from benchspec.judge.result import Verdicts
from benchspec.load.calibration import Calibration, calibrate
from benchspec.run import trust
from benchspec.run.cell import Conditions, Patience
from benchspec.run.environment import environment, versions
from benchspec.run.executor import Executor
from benchspec.run.finish import finish
from benchspec.run.interrupts import Interrupts
from benchspec.run.preflight import preflight
from benchspec.run.prepare import Prepared, prepare
from benchspec.run.progress import Progress
from benchspec.run.resolved import calibration_data, resolved_data
from benchspec.spec.source import parse
from benchspec.store import bundle as bundles
from benchspec.store import journal
from benchspec.store.bundle import Bundle
from benchspec.store.files import read_whole, write_whole
from benchspec.store.journal import Journal, Line, finished_cells
from benchspec.store.manifest import MANIFEST
from benchspec.store.records import EngineRecord, RunEnded, RunStarted
from benchspec.store.redaction import Redactor, of_this_machine
from benchspec.telemetry.host import PATIENCE_S
from benchspec.telemetry.sources import wanted

SPEC_LIMIT_BYTES = 1 << 20

WAITING_SHARE = 0.25
"""Of the estimated time, at most this much (and at least PATIENCE_S) is spent waiting for quiet."""

SAME_ENVIRONMENT = ("processor", "cores", "architecture")
"""What must not change between the cells of one bundle; the rest of it is only reported."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `verdicts` is None when there was nothing to judge yet; `failure` says what
    the environment did; `warning` is for a person, and changes nothing."""

    bundle: Bundle
    ended: RunEnded
    finished_cells: int
    verdicts: Verdicts | None = None
    failure: BenchspecError | None = None
    warning: str | None = None

    @property
    def exit_code(self) -> int:
        """130 interrupted, 3 failed, 4 when invalidity kept every hypothesis open, else 0."""
        if self.ended.state == "interrupted":
            return EXIT_INTERRUPTED
        if self.ended.state == "failed":
            return EXIT_ENVIRONMENT
        words = {one.verdict for one in self.verdicts.hypotheses} if self.verdicts else set()
        undecided = not words & {"supported", "refuted"}
        return EXIT_INVALID if undecided and "invalid" in words else EXIT_DONE


def start(prepared: Prepared, *, output: Path, trusted: bool, progress: Progress) -> Outcome:
    """Run a prepared spec in a new bundle below `output`.

    Raises BenchspecError before anything is on disk (trust, preflight, fetching the model), and
    StorageFailure when the bundle can take no more; finished cells are then kept.
    """
    _admit(prepared, output, trusted)
    with Interrupts() as interrupts:
        with interrupts.at_once():
            models = _models(prepared, progress)
            calibration = _calibrated()
        started = _started(prepared)
        bundle = bundles.create(output, started.utc, prepared.spec.study.title)
        redactor = _redactor(prepared)
        with _kept(bundle):
            write_whole(bundle.spec, prepared.document.raw)
            data = resolved_data(
                bundle=bundle.root.name,
                started=started,
                plan=prepared.plan,
                acts=prepared.acts,
                models=models,
                environment=environment(),
                versions=versions(),
                findings=prepared.result.findings,
            )
            data["spec_folder"] = os.path.relpath(prepared.folder, bundle.root)
            data["calibration"] = calibration_data(calibration)
            bundle.write_json(bundle.resolved, redactor.data(data))
            with Journal(bundle.journal, redactor) as lines:
                lines.append(started)
                run = _Run(prepared, bundle, lines, redactor, models, calibration, progress)
                return run.measure_and_finish(interrupts, frozenset(), {})


def resume(path: Path, *, folder: Path | None, trusted: bool, progress: Progress) -> Outcome:
    """Redo what is missing in the bundle at `path`; finished cells are kept as they are.

    `folder` is where the spec's relative paths start, unless it is where it was. Raises
    BenchspecError when the spec or the environment is not the one that the run began with.
    """
    bundle = bundles.open_bundle(path)
    records = journal.read(bundle.journal)
    before = bundle.read_json(bundle.resolved)
    began = next((record for record in records if isinstance(record, RunStarted)), None)
    if began is None:
        raise StorageFailure(f"{bundle.journal} has no first line, so there is nothing to resume.")
    document = parse(read_whole(bundle.spec, SPEC_LIMIT_BYTES), str(bundle.spec))
    place = folder or bundle.root / str(before.get("spec_folder", "."))
    prepared = prepare(document, place, began.overrides)
    _check_spec(prepared, began)
    _check_environment(before["environment"])
    _admit(prepared, bundle.root, trusted)
    done = frozenset(finished_cells(records))
    with Interrupts() as interrupts:
        with interrupts.at_once():
            models = _models(prepared, progress)
            _check_models(before["models"], models)
            calibration = _calibrated()
        redactor = _redactor(prepared)
        with _kept(bundle), Journal(bundle.journal, redactor) as lines:
            (bundle.root / MANIFEST).unlink(missing_ok=True)
            lines.append(_started(prepared, resumed=True))
            run = _Run(prepared, bundle, lines, redactor, models, calibration, progress)
            return run.measure_and_finish(interrupts, done, _builds(records))


@dataclass(frozen=True)
class _Run:
    prepared: Prepared
    bundle: Bundle
    lines: Journal
    redactor: Redactor
    models: Mapping[str, ModelFile | None]
    calibration: Calibration
    progress: Progress

    def measure_and_finish(
        self, interrupts: Interrupts, done: frozenset[str], builds: Mapping[str, str]
    ) -> Outcome:
        plan = self.prepared.plan
        self.progress.begin(plan, len(done))
        executor = Executor(
            plan=plan,
            models=self.models,
            conditions=self._conditions(interrupts),
            journal=self.lines,
            redactor=self.redactor,
            spec_folder=self.prepared.folder,
            done=done,
            builds=builds,
        )
        ended = executor.execute()
        finished = len(finished_cells(journal.read(self.bundle.journal)))
        outcome = Outcome(self.bundle, ended, finished, failure=executor.failure)
        if ended.state == "interrupted" or finished == 0:
            return outcome
        self.progress.say("judging and rendering")
        try:
            with interrupts.at_once():
                judged, rendered = finish(self.bundle)
        except KeyboardInterrupt:
            reason = "it was interrupted before the report was written"
            return replace(outcome, ended=RunEnded(state="interrupted", reason=reason))
        return replace(outcome, verdicts=judged.verdicts, warning=rendered.warning)

    def _conditions(self, interrupts: Interrupts) -> Conditions:
        spec, plan = self.prepared.spec, self.prepared.plan
        return Conditions(
            bundle=self.bundle,
            origin_ns=time.monotonic_ns(),
            idle_s=plan.idle_s,
            timeout_s=plan.timeout_s,
            ceiling_events_s=self.calibration.ceiling_events_s,
            telemetry=wanted(spec),
            arrival=spec.load.arrival or "poisson",
            burstiness=spec.load.burstiness,
            connections=spec.load.connections,
            patience=Patience(max(PATIENCE_S, WAITING_SHARE * plan.estimate_s)),
            interrupts=interrupts,
            progress=self.progress,
        )


def _admit(prepared: Prepared, output: Path, trusted: bool) -> None:
    """Trust, then preflight; trust is remembered once both have passed."""
    state = trust.state_folder(os.environ)
    trust.require(prepared.acts, given=trusted, spec_sha256=prepared.spec_sha256, state=state)
    preflight(prepared.plan, output=output, spec_folder=prepared.folder, environ=os.environ)
    if trusted and trust.asked_for(prepared.acts):
        trust.remember(prepared.spec_sha256, state)


def _models(prepared: Prepared, progress: Progress) -> dict[str, ModelFile | None]:
    """The model file of each arm, fetched where it is not here. Raises FetchFailure."""
    found: dict[str, ModelFile | None] = {}
    known: dict[tuple[str, str | None], ModelFile | None] = {}
    for arm, launch in prepared.plan.launches.items():
        source = launch.model_source
        if source is None or launch.attach is not None:
            found[arm] = None
            continue
        key = (source, launch.model_sha256)
        if key not in known:
            name = source.rpartition("/")[2]
            known[key] = resolve(
                source,
                sha256=launch.model_sha256,
                spec_dir=prepared.folder,
                progress=partial(progress.fetched, name),
            )
        found[arm] = known[key]
    return found


def _calibrated() -> Calibration:
    """Calibrate in a thread of its own: there the driver leaves the signals to Interrupts."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(calibrate).result()


def _started(prepared: Prepared, *, resumed: bool = False) -> RunStarted:
    return RunStarted(
        benchspec=__version__,
        utc=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        spec_sha256=prepared.spec_sha256,
        overrides=dict(prepared.overrides),
        resumed=resumed,
    )


def _redactor(prepared: Prepared) -> Redactor:
    launches = prepared.plan.launches.values()
    names = [launch.api_key_env for launch in launches if launch.api_key_env is not None]
    return of_this_machine(os.environ, names, folder=prepared.folder)


@contextmanager
def _kept(bundle: Bundle) -> Iterator[None]:
    """A bundle that can take no more says how to go on."""
    try:
        yield
    except StorageFailure as failure:
        hint = f"{failure.hint or ''} Then: benchspec resume {bundle.root}".strip()
        raise StorageFailure(failure.message, hint=hint) from failure


def _check_spec(prepared: Prepared, began: RunStarted) -> None:
    if prepared.spec_sha256 != began.spec_sha256:
        raise BenchspecError(
            f"The spec in this bundle is not the one that the run began with: SHA-256 "
            f"{prepared.spec_sha256[:12]}..., was {began.spec_sha256[:12]}....",
            hint="Start anew with `benchspec run`: cells of two specs are not one experiment.",
        )


def _check_environment(before: Mapping[str, str]) -> None:
    now = environment()
    for name in SAME_ENVIRONMENT:
        if now[name] != before.get(name):
            raise _changed(name, before.get(name), now[name])


def _check_models(
    before: Mapping[str, Mapping[str, str] | None], now: Mapping[str, ModelFile | None]
) -> None:
    for arm, file in now.items():
        recorded = before.get(arm)
        if file is not None and recorded is not None and recorded["sha256"] != file.sha256:
            raise _changed(f"model of arm {arm}", recorded["sha256"], file.sha256)


def _builds(records: list[Line]) -> dict[str, str]:
    """The engine build that each arm was measured with."""
    starts = (record for record in records if isinstance(record, EngineRecord))
    return {start.arm: start.build for start in starts if start.build is not None}


def _changed(what: str, before: str | None, now: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"The {what} is not what this run began with: it was {before}, it is {now}.",
        hint="Start anew with `benchspec run`: such cells cannot be compared.",
    )
