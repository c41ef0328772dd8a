"""A small bundle written as a run writes one, without an engine: two arms, one repeat."""

from __future__ import annotations

import hashlib
from pathlib import Path

from benchspec.run.finish import finish
from benchspec.store.bundle import Bundle, create
from benchspec.store.journal import Journal
from benchspec.store.records import (
    CellKey,
    CellRecord,
    EngineRecord,
    RequestRecord,
    RunEnded,
    RunStarted,
    SettingRecord,
)
from benchspec.store.redaction import Redactor
from tests.report import samples

MS = 1_000_000


def write_bundle(output: Path) -> Bundle:
    spec = samples.QUICKSTART.read_bytes()
    bundle = create(output, samples.UTC, "Four slots, one slot")
    bundle.spec.write_bytes(spec)
    digest = hashlib.sha256(spec).hexdigest()
    launch: dict[str, object] = {
        "argv": ["llama-server", "--parallel", "4"],
        "env": {},
        "attach": None,
    }
    resolved = {
        "format_version": 1,
        "bundle": bundle.root.name,
        "benchspec": "0.1.0",
        "utc": samples.UTC,
        "spec_sha256": digest,
        "overrides": {},
        "plan": {"launches": {"four-slots": launch}},
        "models": {},
        "environment": {"Processor": "a test"},
        "versions": {"benchspec": "0.1.0"},
        "findings": [],
        "calibration": {"ceiling_events_s": 50_000.0, "first_token_error_ms_p99": 0.9},
    }
    bundle.write_json(bundle.resolved, resolved)
    with Journal(bundle.journal, Redactor()) as journal:
        journal.append(RunStarted(benchspec="0.1.0", utc=samples.UTC, spec_sha256=digest))
        for arm, slots in (("four-slots", 4), ("one-slot", 1)):
            found = SettingRecord(name="parallel", asked=slots, found=slots, found_source="/props")
            journal.append(
                EngineRecord(
                    arm=arm, engine="llama.cpp", started_ns=0, ready_ns=1, settings=[found]
                )
            )
            for load in (1, 2, 4, 8):
                journal.append(_cell(arm, slots, load))
        journal.append(RunEnded(state="complete"))
    finish(bundle)
    return bundle


def _cell(arm: str, slots: int, load: int) -> CellRecord:
    requests = [
        RequestRecord(
            index=index,
            sent_ns=0,
            first_token_ns=(index // slots * 300 + 20) * MS,
            last_token_ns=(index // slots * 300 + 299) * MS,
            end_ns=(index // slots + 1) * 300 * MS,
            status=200,
            ok=True,
            prompt_tokens=16,
            completion_tokens=32,
        )
        for index in range(load)
    ]
    return CellRecord(
        key=CellKey(id=f"{arm}-c{load}-r1", arm=arm, concurrency=load),
        state="done",
        started_ns=0,
        ended_ns=3000 * MS,
        planned_requests=load,
        requests=requests,
    )
