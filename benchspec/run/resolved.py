"""`resolved.json`: what the spec became on this machine, and what the report says of it."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchspec.engines.model_file import ModelFile
from benchspec.lint.finding import Finding
from benchspec.load.calibration import Calibration
from benchspec.report.facts import AcceptedFinding, BundleFacts, Evidence, Launch
from benchspec.run.plan import Plan
from benchspec.run.plan_text import acts_data, plan_data
from benchspec.run.trust import Act
from benchspec.store.bundle import Bundle
from benchspec.store.journal import Line
from benchspec.store.records import EngineRecord, RunStarted

FORMAT_VERSION = 1


def resolved_data(
    *,
    bundle: str,
    started: RunStarted,
    plan: Plan,
    acts: Sequence[Act],
    models: Mapping[str, ModelFile | None],
    environment: Mapping[str, str],
    versions: Mapping[str, str],
    findings: Iterable[Finding],
) -> dict[str, Any]:
    """What is known before the first engine starts. `bundle` is the folder's name."""
    return {
        "format_version": FORMAT_VERSION,
        "bundle": bundle,
        "benchspec": started.benchspec,
        "utc": started.utc,
        "spec_sha256": started.spec_sha256,
        "overrides": dict(started.overrides),
        "plan": plan_data(plan),
        "acts": acts_data(acts),
        "models": {arm: _model(file) for arm, file in models.items()},
        "environment": dict(environment),
        "versions": dict(versions),
        "findings": [_finding(finding) for finding in findings],
    }


def _model(file: ModelFile | None) -> dict[str, Any] | None:
    if file is None:
        return None
    return {"source": file.source, "sha256": file.sha256, "size_bytes": file.size_bytes}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.message,
        "line": finding.line,
        "column": finding.column,
        "affects": list(finding.affects),
        "waived": finding.waived,
    }


def affected(resolved: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, list[str]]:
    """Code -> ids of the hypotheses that the overridden findings touch; empty = all of them.

    One finding of a code that names none makes it all.
    """
    touched: dict[str, list[str]] = {}
    for code in overrides:
        named = [
            list(finding["affects"])
            for finding in resolved.get("findings", [])
            if finding["code"] == code and finding["waived"] is None
        ]
        ids = dict.fromkeys(itertools.chain.from_iterable(named))
        touched[code] = list(ids) if all(named) else []
    return touched


def engines_data(records: Iterable[Line]) -> dict[str, Any]:
    """The effective settings of each arm as its last start showed them."""
    starts = {record.arm: record for record in records if isinstance(record, EngineRecord)}
    return {
        arm: record.model_dump(
            mode="json", include={"engine", "argv", "env", "build", "model", "model_sha256"}
        )
        | {"settings": [setting.model_dump(mode="json") for setting in record.settings]}
        | {"hardware": record.facts.get("hardware", {})}
        for arm, record in starts.items()
    }


def calibration_data(calibration: Calibration) -> dict[str, float]:
    """What the instrument can do on this machine, as measured before the first cell."""
    paced, ceiling = calibration.paced[0], calibration.ceiling_events_s
    return {
        "cpu_us_per_event": calibration.cpu_us_per_event,
        **({} if ceiling is None else {"ceiling_events_s": ceiling}),
        "kernel_stamp_share": paced.kernel_stamp_share,
        "first_token_error_ms_p50": paced.errors.first_token_ms_p50,
        "first_token_error_ms_p99": paced.errors.first_token_ms_p99,
        "gap_error_ms_p50": paced.errors.gap_ms_p50,
    }


def report_facts(bundle: Bundle, resolved: Mapping[str, Any], evidence: bytes) -> BundleFacts:
    """What the report tells beside spec, observations and verdicts; `evidence` are the bytes of
    EVIDENCE.sha256."""
    plan, engines = resolved["plan"], resolved.get("engines", {})
    return BundleFacts(
        benchspec=resolved["benchspec"],
        utc=resolved["utc"],
        origin="run",
        spec_text=bundle.spec.read_bytes().decode("utf-8"),
        spec_sha256=resolved["spec_sha256"],
        bundle=resolved["bundle"],
        evidence=tuple(_evidence(evidence)),
        evidence_sha256=hashlib.sha256(evidence).hexdigest(),
        versions=resolved["versions"],
        environment=resolved["environment"],
        launches=tuple(
            _launch(arm, launch, engines.get(arm, {})) for arm, launch in plan["launches"].items()
        ),
        findings=tuple(
            AcceptedFinding(
                found["code"],
                found["name"],
                found["severity"],
                found["message"],
                found["waived"] or resolved["overrides"].get(found["code"]),
            )
            for found in resolved["findings"]
        ),
        calibration=resolved.get("calibration", {}),
        deviations=tuple(resolved.get("deviations", ())),
        renderer=resolved["renderer"],
    )


def _evidence(listing: bytes) -> Iterable[Evidence]:
    for line in listing.decode("utf-8", "replace").splitlines():
        digest, _, path = line.partition("  ")
        yield Evidence(path, digest)


def _launch(arm: str, planned: Mapping[str, Any], found: Mapping[str, Any]) -> Launch:
    return Launch(
        arm=arm,
        argv=tuple(planned["argv"]),
        env=planned["env"],
        attach=planned["attach"],
        build=found.get("build"),
        model=found.get("model"),
        model_sha256=found.get("model_sha256"),
    )
