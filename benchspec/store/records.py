"""What is written while measuring: one typed record per line of `journal.jsonl`.

Times are integers of nanoseconds on CLOCK_MONOTONIC, relative to the run's origin (the `origin`
that `RunStarted` fixes), so that one clock orders requests, tokens and telemetry. Absent is None.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Frozen. A field that this version does not know is passed over: a journal is read for years,
    and a bundle of an older or newer version must still be judged."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TextRecord(Record):
    """Measures of one answer's text (see load/repetition.py); the text itself is not kept.

    `chars` counts it with white space as single spaces; `looped_chars` of them stand in loops.
    `entropy_bits` is per character.
    """

    chars: int
    looped_chars: int
    entropy_bits: float


class RequestRecord(Record):
    """One request as the client saw it.

    `turn` counts from 1 within a conversation; None where each request stands alone. `sent_ns` is
    taken around the send call that completed the request; `first_token_ns` and
    `last_token_ns` are arrival stamps of the first and last event that carried generated text;
    `end_ns` is the arrival of the response's end (or of the failure). The stamps of all token
    events are kept beside the journal in the cell's sample file, at [`samples_start`,
    `samples_start + samples_count`). Token counts come from the server's `usage` or `timings`.

    No text is kept. `text` are measures of it; None in a bundle of a version that took none. Of the
    first requests of a cell there are digests by which answers of two arms are compared:
    `prompt_sha256` of what was asked, and `output_prefixes` of how the answer begins: events that
    end in its first 64, 128, ... characters, and a digest of these (see load/prefixes.py).
    """

    index: int
    turn: int | None = None
    scheduled_ns: int | None = None
    sent_ns: int | None = None
    first_token_ns: int | None = None
    last_token_ns: int | None = None
    end_ns: int | None = None
    status: int | None = None
    ok: bool = False
    error: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    draft_tokens: int | None = None
    accepted_tokens: int | None = None
    server_prefill_ms: float | None = None
    server_decode_ms: float | None = None
    server_decode_tok_s: float | None = None
    output_sha256: str | None = None
    output_prefixes: list[tuple[int, str]] | None = None
    prompt_sha256: str | None = None
    text: TextRecord | None = None
    samples_start: int = 0
    samples_count: int = 0


class ClientRecord(Record):
    """What the measuring client knows of its own error during one cell.

    `processes` sent and read; `cpu_s` is processor time of their driving threads and `cpu_share`
    that per wall time (1.0 = one core); `events` counts server-sent events with text; `reads` the
    socket reads that returned data, `kernel_stamps` those stamped by the kernel, `coalesced_reads`
    those that returned more than one event; `send_lateness_ms_*` is sent minus intended;
    `read_lag_ms_p99` is read time minus kernel stamp. `ceiling_events_s` comes from the calibration
    made on this machine, for so many processes.
    """

    processes: int = 1
    cpu_s: float
    wall_s: float
    cpu_share: float
    events: int
    reads: int
    kernel_stamps: int
    coalesced_reads: int
    send_lateness_ms_p50: float | None = None
    send_lateness_ms_p99: float | None = None
    read_lag_ms_p99: float | None = None
    ceiling_events_s: float | None = None
    stamp_source: Literal["kernel", "user", "mixed", "none"] = "none"


class CellKey(Record):
    """Where a cell stands in the plan. Exactly one of `concurrency` and `rate` is set."""

    id: str
    arm: str
    concurrency: int | None = None
    rate: float | None = None
    context_tokens: int | None = None
    cache: Literal["cold", "warm"] | None = None
    material: str | None = None
    repeat: int = 1
    seed: int | None = None


class QuietRecord(Record):
    """Processor use around a cell, in seconds of CPU time over `wall_s`.

    `foreign_cpu_s` is everything that is neither the engine nor benchspec (steal included);
    `engine_cpu_s` and `client_cpu_s` are what the measurement itself needed. `waited_s` is how long
    quiet was waited for. `idle_*_share` is the foreign share of all cores in the idle window.
    """

    wall_s: float
    cores: int
    foreign_cpu_s: float | None = None
    engine_cpu_s: float | None = None
    client_cpu_s: float | None = None
    steal_s: float | None = None
    waited_s: float = 0.0
    idle_before_share: float | None = None
    idle_after_share: float | None = None
    reason: str | None = None


class TelemetryRecord(Record):
    """Where the samples of counters around a cell are (see store/tracks.py), and what they cost.

    The idle windows are moments of the run's clock, begin and end; None where none was kept.
    `cpu_share` is processor time of the sampling threads per wall time (1.0 = one core).
    """

    file: str
    sha256: str
    idle_before_ns: tuple[int, int] | None = None
    idle_after_ns: tuple[int, int] | None = None
    cpu_share: float | None = None


class CellRecord(Record):
    """A finished (or aborted) cell: its place, its requests and the conditions around it.

    `achieved_rate` is requests per second as they were sent in an open loop, beside `key.rate`,
    which was asked for; a schedule with random gaps is itself a little off the rate.
    """

    kind: Literal["cell"] = "cell"
    key: CellKey
    state: Literal["done", "aborted", "failed"]
    reason: str | None = None
    mode: Literal["burst", "sustained", "open"] = "burst"
    started_ns: int
    ended_ns: int
    planned_requests: int
    achieved_rate: float | None = None
    requests: list[RequestRecord] = []
    client: ClientRecord | None = None
    quiet: QuietRecord | None = None
    telemetry: TelemetryRecord | None = None
    samples_file: str | None = None
    samples_sha256: str | None = None
    engine_pid_before: int | None = None
    engine_pid_after: int | None = None
    counters: dict[str, float] = {}


class LogFinding(Record):
    """A line of the engine's log that says a request was refused, changed, ignored or fell back."""

    effect: Literal["refused", "changed", "ignored", "fell-back", "warning", "error"]
    setting: str | None = None
    text: str
    line: int | None = None


class SettingRecord(Record):
    """One engine setting: asked, and found on the live server (None = it could not be read)."""

    name: str
    asked: str | int | float | bool | None = None
    asked_source: str | None = None
    found: str | int | float | bool | None = None
    found_source: str | None = None


class EngineRecord(Record):
    """An engine as it was found after start or attach, once per start."""

    kind: Literal["engine"] = "engine"
    arm: str
    engine: str
    started_ns: int
    ready_ns: int
    argv: list[str] = []
    env: dict[str, str] = {}
    pid: int | None = None
    build: str | None = None
    model: str | None = None
    model_sha256: str | None = None
    settings: list[SettingRecord] = []
    findings: list[LogFinding] = []
    log_file: str | None = None
    facts: dict[str, Any] = {}


class TroubleRecord(Record):
    """What an engine's log said while its cells were measured, once per start and arm."""

    kind: Literal["trouble"] = "trouble"
    arm: str
    findings: list[LogFinding]


class RunStarted(Record):
    """First line of a journal. Wall-clock time appears only here."""

    kind: Literal["run"] = "run"
    format_version: int = 1
    benchspec: str
    utc: str
    spec_sha256: str
    overrides: dict[str, str] = {}
    resumed: bool = False


class RunEnded(Record):
    """Last line of a journal that reached its end, or that was stopped in order."""

    kind: Literal["end"] = "end"
    state: Literal["complete", "interrupted", "failed"]
    reason: str | None = None
