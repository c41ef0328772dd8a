"""From a plan to a journal: engine starts, warm-ups, cells, and everything that can go wrong.

Nothing is judged here. A cell is in the journal before the next one begins; whatever ends the run
early leaves the finished cells and a last line that says why.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchspec.engines import engine_for
from benchspec.engines.base import Engine, Launch
from benchspec.engines.model_file import ModelFile
from benchspec.errors import BenchspecError, EngineFailure, EnvironmentFailure, StorageFailure
from benchspec.load.workers import Workers
from benchspec.run.cell import CellRunner, Conditions
from benchspec.run.environment import hardware, link_probes
from benchspec.run.interrupts import Interrupted
from benchspec.run.launches import PlannedLaunch
from benchspec.run.log_copy import LogCopy
from benchspec.run.plan import Block, Plan
from benchspec.run.requests import RequestSource
from benchspec.run.trust import is_loopback
from benchspec.store.journal import Journal
from benchspec.store.records import (
    CellRecord,
    EngineRecord,
    LogFinding,
    RunEnded,
    TroubleRecord,
)
from benchspec.store.redaction import Redactor
from benchspec.telemetry.sampler import Sampler
from benchspec.telemetry.sources import Around, sources_of

FAILED_IN_A_ROW = 2
"""So many cells without one answered request, and the rest of the run is not worth its time."""


@dataclass
class Executor:
    """Runs the cells of `plan` that are not in `done` (ids), on the engines that they need.

    `models` has the verified model file of each arm, None where the server brings its own;
    `spec_folder` is where relative program and prompt files are; `builds` are the engine builds
    that earlier cells of an arm were measured with, and that this run must have, too.
    """

    plan: Plan
    models: Mapping[str, ModelFile | None]
    conditions: Conditions
    journal: Journal
    redactor: Redactor
    spec_folder: Path
    done: frozenset[str] = frozenset()
    builds: Mapping[str, str] = field(default_factory=dict)
    failure: BenchspecError | None = field(default=None, init=False)
    _failed: list[str] = field(default_factory=list, init=False)
    _failed_in_a_row: int = field(default=0, init=False)

    def execute(self) -> RunEnded:
        """The record that the journal now ends with; `failure` is what to tell a person.

        Raises StorageFailure when the bundle can take no more; finished cells are in it.
        """
        try:
            with tempfile.TemporaryDirectory(prefix="benchspec-") as scratch:
                for number, block in enumerate(self.plan.blocks, 1):
                    self._block(block, Path(scratch) / f"{number}.log")
            ended = self._complete()
        except (Interrupted, KeyboardInterrupt):
            ended = RunEnded(state="interrupted", reason="it was interrupted by the user")
        except EngineFailure as failure:
            self.failure = failure
            ended = RunEnded(state="failed", reason=failure.message)
        self.journal.append(ended)
        return ended

    def _complete(self) -> RunEnded:
        if not self._failed:
            return RunEnded(state="complete")
        reason = f"{len(self._failed)} cells failed: {', '.join(self._failed)}"
        self.failure = EngineFailure(reason[0].upper() + reason[1:] + ".")
        return RunEnded(state="failed", reason=reason)

    def _block(self, block: Block, raw_log: Path) -> None:
        cells = [cell for cell in block.cells if cell.key.id not in self.done]
        if not cells:
            return
        arms = list(dict.fromkeys(cell.key.arm for cell in cells))
        log = LogCopy(raw_log, self._log_path(arms[0]), self.redactor)
        launch = self._launch(block.launch, self.models[arms[0]], raw_log)
        try:
            with ExitStack() as stack:
                stack.callback(log.sync, all_of_it=True)
                engine, found = self._start(stack, launch, arms, log)
                stack.callback(self._trouble, engine, arms)
                requests = RequestSource(
                    engine,
                    kind=launch.kind,
                    model=None if launch.kind == "llama.cpp" else found.model,
                    spec_sha256=self.plan.spec_sha256,
                    folder=self.spec_folder,
                )
                sampler = stack.enter_context(self._sampler(engine, launch))
                workers = stack.enter_context(Workers())
                runner = CellRunner(self.conditions, engine, requests, sampler, workers)
                if self.plan.warmup_requests:
                    self.conditions.progress.say("warming up")
                runner.warm_up(cells[0], self.plan.warmup_requests)
                for cell in cells:
                    self.conditions.interrupts.check()
                    self.conditions.progress.cell(cell)
                    self._keep(runner.run(cell), lost=runner.lost)
                    log.sync()
        except StorageFailure:
            raise
        except EnvironmentFailure as failure:
            raise _naming(failure, raw_log, log.target) from failure

    def _start(
        self, stack: ExitStack, launch: Launch, arms: Sequence[str], log: LogCopy
    ) -> tuple[Engine, EngineRecord]:
        """Start or attach, read back what runs, and note it for each arm that it serves."""
        doing = "starting the engine" if launch.attach is None else f"attaching to {launch.attach}"
        self.conditions.progress.say(f"{doing} for {', '.join(arms)}")
        started_ns = time.monotonic_ns()
        with self.conditions.interrupts.at_once():
            engine = stack.enter_context(engine_for(launch))
            ready_ns = time.monotonic_ns()
            found = engine.read_back()
        model = self.models[arms[0]]
        origin_ns = self.conditions.origin_ns
        log_file = log.target.relative_to(self.conditions.bundle.root).as_posix()
        record = EngineRecord(
            arm=arms[0],
            engine=launch.kind,
            started_ns=started_ns - origin_ns,
            ready_ns=ready_ns - origin_ns,
            argv=list(engine.argv),
            env=dict(launch.env),
            pid=next(iter(engine.pids()), None),
            build=found.build,
            model=found.model,
            model_sha256=None if model is None else model.sha256,
            settings=found.settings,
            findings=found.findings,
            log_file=None if launch.attach else log_file,
            facts=found.facts | self._hardware(engine, launch),
        )
        for arm in arms:
            self._check_build(arm, found.build)
            self.journal.append(record.model_copy(update={"arm": arm}))
        return engine, record

    def _trouble(self, engine: Engine, arms: Sequence[str]) -> None:
        """Note what the engine's log has said since it was started, if anything."""
        try:
            findings = engine.trouble()
        except EngineFailure as failure:
            findings = [LogFinding(effect="warning", text=failure.message)]
        for arm in arms if findings else ():
            self.journal.append(TroubleRecord(arm=arm, findings=findings))

    def _sampler(self, engine: Engine, launch: Launch) -> Sampler:
        what = self.conditions.telemetry
        local = is_loopback(engine.endpoint.host)
        return Sampler(
            sources_of(what, Around(engine.counters, launch.env, local)),
            what.families,
            origin_ns=self.conditions.origin_ns,
            interval_s=what.interval_s,
        )

    def _hardware(self, engine: Engine, launch: Launch) -> dict[str, Any]:
        """What the devices are, under `hardware`, and what was probed between them, under
        `link_probes`; nothing where the engine is on another machine."""
        if not is_loopback(engine.endpoint.host):
            return {}
        found = hardware(self.conditions.telemetry.devices, launch.env)
        probes = link_probes(found)
        return {"hardware": found, **({"link_probes": probes} if probes else {})}

    def _check_build(self, arm: str, build: str | None) -> None:
        if arm in self.builds and build != self.builds[arm]:
            raise EngineFailure(
                f"The engine of arm {arm} is not the one that its finished cells were measured "
                f"with: it was {self.builds[arm]}, it is {build}.",
                hint="Start anew with `benchspec run`: such cells cannot be compared.",
            )

    def _keep(self, cell: CellRecord, *, lost: bool) -> None:
        """Journal the cell; go on, or end the run where the engine or the user says so."""
        self.journal.append(cell)
        self.conditions.progress.ended(cell)
        self.conditions.interrupts.check()
        if cell.state != "failed":
            self._failed_in_a_row = 0
            return
        self._failed.append(cell.key.id)
        self._failed_in_a_row += 1
        if lost or self._failed_in_a_row >= FAILED_IN_A_ROW:
            raise EngineFailure(
                f"Cell {cell.key.id} failed: {cell.reason}.",
                hint="Finished cells are kept; the engine's log is in the bundle.",
            )

    def _launch(self, planned: PlannedLaunch, model: ModelFile | None, log: Path) -> Launch:
        binary = planned.binary
        if binary is not None and os.sep in binary:
            binary = str(self.spec_folder / Path(binary).expanduser())
        return Launch(
            kind=planned.kind,
            binary=binary,
            argv=planned.argv,
            env=planned.env,
            model_path=None if model is None else model.path,
            model_name=planned.model_name,
            asked=planned.asked,
            attach=planned.attach,
            slots=planned.slots,
            api_key_env=planned.api_key_env,
            log_path=log,
            ready_timeout_s=planned.ready_timeout_s,
            dialect=planned.dialect,
            attached_log=self._attached_log(planned),
            attached_log_name=planned.log,
        )

    def _attached_log(self, planned: PlannedLaunch) -> Path | None:
        if planned.log is None:
            return None
        return self.spec_folder / Path(planned.log).expanduser()

    def _log_path(self, arm: str) -> Path:
        """A log file in the bundle that no earlier start has."""
        folder = self.conditions.bundle.logs
        taken = len(list(folder.glob("*.log")))
        return folder / f"{taken + 1:02d}-{quote(arm, safe='')}.log"


def _naming(failure: EnvironmentFailure, raw: Path, kept: Path) -> EngineFailure:
    """The same failure, with the log's place in the bundle instead of the file it was taken from."""
    message = failure.message.replace(str(raw), str(kept))
    return EngineFailure(message, hint=failure.hint)
