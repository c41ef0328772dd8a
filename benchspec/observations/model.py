"""Observations: the one typed model of what was seen, and all that the judge ever sees.

A run's bundle reduces to it, `audit` reads it from a spec, importers fill it from other tools'
files. Every field but a step's place is optional: partial data is normal, absent is None. Units
are in the names; times are seconds from the step's first dispatch. Figures may be intervals.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Provenance = Literal["measured", "declared", "datasheet", "derived", "bound"]


class Node(BaseModel):
    """Frozen. Unknown fields are ignored, so that an older judge can read a newer bundle."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


class Bounds(Node):
    """An interval of which only the ends are known."""

    low: float
    high: float


Number = float | Bounds
SettingValue = str | int | float | bool | None

SLOT_SETTINGS = ("parallel", "max-num-seqs", "max-running-requests", "num-parallel", "slots")
"""Canonical names under which engines keep how many requests they serve at once."""


class Request(Node):
    """One request. `end_s` is when its answer ended; `ttft_ms` counts from the scheduled time in
    an open loop, from the send otherwise. `ok` False means that it is counted as failed."""

    start_s: float | None = None
    scheduled_s: float | None = None
    first_token_s: float | None = None
    last_token_s: float | None = None
    end_s: float | None = None
    ttft_ms: float | None = None
    itl_ms: float | None = None
    """Mean time between tokens: (last - first token) / (tokens - 1)."""
    tokens: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    draft_tokens: int | None = None
    accepted_tokens: int | None = None
    self_reported_tok_s: float | None = None
    server_prefill_ms: float | None = None
    finish_reason: str | None = None
    output_sha256: str | None = None
    ok: bool = True
    error: str | None = None


class Distribution(Node):
    """Order statistics of a set of times in one unit, and how many there were."""

    n: int
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


class Window(Node):
    """The steady part of a sustained step: C in flight; tokens stamped inside it."""

    start_s: float
    end_s: float
    tokens: int


class Client(Node):
    """What the instrument knew of its own error (see ClientRecord for the definitions)."""

    cpu_share: float | None = None
    events: int | None = None
    events_per_s: float | None = None
    ceiling_events_s: float | None = None
    kernel_stamp_share: float | None = None
    coalesced_share: float | None = None
    send_lateness_ms_p50: float | None = None
    send_lateness_ms_p99: float | None = None
    read_lag_ms_p99: float | None = None
    stamp_source: str | None = None


class Quiet(Node):
    """Processor time around a step; shares are of the processor time that engine and client used."""

    foreign_share: float | None = None
    """Foreign CPU time / (engine + client CPU time) during the step."""
    idle_before_share: float | None = None
    idle_after_share: float | None = None
    """Foreign share of all cores in the idle window before and after the step."""
    client_share: float | None = None
    """Client CPU time / (engine + client CPU time)."""
    busy_share: float | None = None
    """Everybody's CPU time / what all cores could give: near 1, client and engine compete."""
    steal_share: float | None = None
    waited_s: float | None = None
    reason: str | None = None


class Step(Node):
    """One cell: an arm at a concurrency (or rate), once."""

    arm: str
    concurrency: int | None = None
    rate: float | None = None
    context_tokens: int | None = None
    cache: Literal["cold", "warm"] | None = None
    material: str | None = None
    repeat: int = 1
    seed: int | None = None
    mode: Literal["burst", "sustained", "open"] | None = None
    state: Literal["done", "aborted", "failed"] = "done"
    reason: str | None = None
    provenance: Provenance = "measured"
    source: str | None = None
    planned_requests: int | None = None
    wall_s: Number | None = None
    requests: list[Request] = []
    output_forced: bool | None = None
    itl_ms: Distribution | None = None
    """Times between token arrivals, pooled over the step's requests."""
    window: Window | None = None
    samples: str | None = None
    client: Client | None = None
    quiet: Quiet | None = None
    waiting_max: float | None = None
    """Largest number of waiting requests that a server counter showed."""
    engine_restarted: bool | None = None

    # What someone else printed, where there are no requests to compute it from.
    aggregate_tok_s: Number | None = None
    stream_tok_s: Number | None = None
    self_reported_tok_s: Number | None = None
    prefill_tok_s: Number | None = None
    decode_tok_s: Number | None = None
    round_ms: Number | None = None
    acceptance: Number | None = None
    tokens_per_round: Number | None = None
    ttft_ms: Number | None = None
    cached_tokens: Number | None = None
    joules_per_token: Number | None = None
    completions_s: list[float] = []
    tokens_total: float | None = None
    tokens_per_request: float | None = None
    errors: int | None = None


class Setting(Node):
    name: str
    asked: SettingValue = None
    asked_source: str | None = None
    found: SettingValue = None
    found_source: str | None = None


class LogLine(Node):
    """A line of the engine's log that says a request was refused, changed, ignored, fell back."""

    effect: Literal["refused", "changed", "ignored", "fell-back", "warning", "error"]
    text: str
    setting: str | None = None
    line: int | None = None


class ArmObservation(Node):
    settings: list[Setting] = []
    log: list[LogLine] = []
    identity: dict[str, SettingValue] = {}
    """model_sha256, engine, build, device names, ...: what must be equal for a comparison."""
    slots: int | None = None
    slots_source: str | None = None
    context_per_slot: int | None = None
    kv_tokens: int | None = None


class Series(Node):
    """Samples of one counter of one device, in time order."""

    counter: str
    unit: str
    device: str | None = None
    arm: str | None = None
    concurrency: int | None = None
    repeat: int | None = None
    phase: Literal["prefill", "decode"] | None = None
    interval_s: float | None = None
    window_s: float | None = None
    """How long one sample looks at; None = the whole interval (a cumulative counter)."""
    statistic: str | None = None
    values: list[float | None] = []
    times_s: list[float] = []
    idle_before: list[float | None] = []
    idle_after: list[float | None] = []
    not_measured: str | None = None
    """Why there are no values (the counter answered N/A)."""
    provenance: Provenance = "measured"


class Observations(Node):
    format_version: int = 1
    origin: Literal["run", "audit", "import"] = "run"
    arms: dict[str, ArmObservation] = {}
    steps: list[Step] = []
    series: list[Series] = []
