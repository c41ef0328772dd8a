"""What the report tells besides spec, observations and verdicts: who ran what, when, on what.

Plain data that the caller fills from `resolved.json`; nothing here is computed. Absent is None or
empty, and the report then says "not recorded".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Launch:
    """How one arm's engine was started (`argv`, `env`) or reached (`attach`), and what it said."""

    arm: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    attach: str | None = None
    build: str | None = None
    model: str | None = None
    model_sha256: str | None = None


@dataclass(frozen=True)
class AcceptedFinding:
    """A finding of the linter that was printed and did not stop the run; `waived` is the reason."""

    code: str
    name: str
    severity: str
    message: str
    waived: str | None = None


@dataclass(frozen=True)
class Evidence:
    """One file of the bundle that is not rendered, as `EVIDENCE.sha256` lists it."""

    path: str
    sha256: str


@dataclass(frozen=True)
class BundleFacts:
    """All that `make_view` needs and the judge does not.

    `utc` is the start of the run (or the time of the audit) as ISO 8601 with a Z: it dates the
    report, and is the only time in it. `origin` is `run`, `audit` or `import`. `environment` maps
    a label to a value in the order to print ("Processor", "Kernel", ...), `versions` a library or
    program to its version. `calibration` is what the instrument showed before the run, against a
    server of known timing (`first_token_error_ms_p50`, ...). `spec_text` is the spec as given,
    `bundle` the name of the bundle's folder.
    """

    benchspec: str
    utc: str
    origin: str
    spec_text: str
    spec_sha256: str
    bundle: str | None = None
    evidence: tuple[Evidence, ...] = ()
    evidence_sha256: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    launches: tuple[Launch, ...] = ()
    calibration: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[AcceptedFinding, ...] = ()
    deviations: tuple[str, ...] = ()
    renderer: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
