"""Observations: the one typed model of what was seen, and all that the judge ever sees.

A run's bundle reduces to it, `audit` reads it from a spec, importers fill it from other tools'
files. Every field but a step's place is optional: partial data is normal, absent is None. Units
are in the names; times are seconds from the step's first dispatch. Figures may be intervals.
"""

from __future__ import annotations

from typing import Literal

from benchspec.observations.answers import Agreement, Outputs, Parity, Text
from benchspec.observations.node import Bounds, Node, Number, Provenance, SettingValue

SLOT_SETTINGS = ("parallel", "max-num-seqs", "max-running-requests", "num-parallel", "slots")
"""Canonical names under which engines keep how many requests they serve at once."""


class Request(Node):
    """One request. `end_s` is when its answer ended; `ttft_ms` counts from the scheduled time in
    an open loop, from the send otherwise. `ok` False means that it is counted as failed."""

    turn: int | None = None
    """Its place in a conversation, from 1; None where it stands alone."""
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
    text: Text | None = None
    """None where the answer's text was not looked at."""
    ok: bool = True
    error: str | None = None


class Distribution(Node):
    """Order statistics of a set of times in one unit, and how many there were."""

    n: int | None = None
    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Window(Node):
    """The part of a step in which the load is on, and the tokens stamped inside it. Sustained: from
    C in flight to the last dispatch. Open loop: from the first to the last arrival."""

    start_s: float
    end_s: float
    tokens: int


class Interference(Node):
    """Times between tokens of streams that decoded both while another request's prompt was read and
    while none was. `alone_ms` and `beside_ms` are the same order statistic, the p99."""

    alone_ms: Number
    beside_ms: Number
    alone_n: int | None = None
    beside_n: int | None = None
    """How many times between tokens each is the p99 of."""
    prefill_ms: Number | None = None
    """How long it took to read a prompt; of different ones, that of the typical moment: half of all
    reading belongs to longer ones."""
    timed_by: Literal["server", "first-token"] | None = None
    """Reading a prompt: the server's own prefill time, or everything up to the first token."""


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
    telemetry_share: float | None = None
    """Processor time of the threads that sample counters / wall time (1.0 = one core)."""


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
    """(engine + client CPU time) / what all cores could give: near 1, the two compete."""
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
    achieved_rate: float | None = None
    """Requests per second as they were sent, beside `rate`, which was asked for."""
    wall_s: Number | None = None
    requests: list[Request] = []
    output_forced: bool | None = None
    itl_ms: Distribution | None = None
    """Times between token arrivals, pooled over the step's requests."""
    interference: Interference | None = None
    window: Window | None = None
    samples: str | None = None
    client: Client | None = None
    quiet: Quiet | None = None
    waiting_max: float | None = None
    """Largest number of waiting requests that a server counter showed."""
    running_max: float | None = None
    """Largest number of requests that a server counter showed at work."""
    preemptions: int | None = None
    """Requests that the server put back to make room, and computed again."""
    engine_restarted: bool | None = None

    # What someone else printed, where there are no requests to compute it from.
    repeats: int | None = None
    """How many repeats the figures are the median of, where only that was published."""
    aggregate_tok_s: Number | None = None
    stream_tok_s: Number | None = None
    self_reported_tok_s: Number | None = None
    prefill_tok_s: Number | None = None
    decode_tok_s: Number | None = None
    round_ms: Number | None = None
    acceptance: Number | None = None
    tokens_per_round: Number | None = None
    drafts: int | None = None
    """k: tokens drafted per round, without the one that the model itself gives."""
    ttft_ms: Number | None = None
    cached_tokens: Number | None = None
    joules_per_token: Number | None = None
    completions_s: list[float] = []
    tokens_total: float | None = None
    tokens_per_request: float | None = None
    tokens_asked: float | None = None
    """Completion tokens asked for per request, where that is known apart from what came."""
    tokens_recounted: float | None = None
    """Completion tokens of all requests, counted again from their texts."""
    reasoning_tokens: float | None = None
    """Of the tokens per request, those that came before what the client calls the first."""
    chunks: float | None = None
    """Pieces in which all answers arrived."""
    gap_ms: Number | None = None
    """Mean time between two pieces of one answer."""
    prompt_tokens: Number | None = None
    """Prompt tokens per request."""
    hit_rate: Number | None = None
    """Share of the prompt tokens that the server counts as taken from its cache."""
    latency_s: Number | None = None
    """Dispatch to completion of one request."""
    tpot_ms: Number | None = None
    """Time per token of one request after its first."""
    requests_per_s: Number | None = None
    server_tok_s: Number | None = None
    """The server's own account of the rate that `stream_tok_s` states."""
    server_ttft_ms: Number | None = None
    """Time to the first token of any kind, as seen nearer to the server."""
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
    split: Literal["none", "layer", "pipeline", "tensor"] | None = None
    """How the model lies on several devices."""
    context_per_slot: int | None = None
    kv_tokens: int | None = None
    replicas: int | None = None
    """Equal servers behind one address; slots and KV tokens are those of one."""
    weights_bytes: float | None = None
    """What the weights take of the devices' memory, and what the KV cache does."""
    kv_bytes: float | None = None
    model_bytes: float | None = None
    """Of all tensors of the loaded model, where a token uses all of them: no experts."""
    loaded_on: Literal["cards", "host"] | None = None
    """Where all of the model's layers lie; None where nobody looked."""


class Series(Node):
    """Samples of one counter of one device, in time order."""

    counter: str
    unit: str
    device: str | None = None
    arm: str | None = None
    concurrency: int | None = None
    rate: float | None = None
    context_tokens: int | None = None
    cache: Literal["cold", "warm"] | None = None
    repeat: int | None = None
    phase: Literal["prefill", "decode"] | None = None
    interval_s: float | None = None
    window_s: float | None = None
    """How long one sample looks at; None = the whole interval (a cumulative counter)."""
    statistic: str | None = None
    values: list[float | None] = []
    times_s: list[float] = []
    mean: Number | None = None
    """Mean within a repeat, median over repeats, where the values were not published. Of a
    cumulative counter: `total` over the time that its windows cover, which is exact."""
    total: float | None = None
    """What a cumulative counter grew by in these windows, in unit x s (W: joules)."""
    range: Bounds | None = None
    """Smallest and largest mean of a repeat."""
    counts: list[int] = []
    """Samples in each repeat."""
    duration_s: float | None = None
    """How long was sampled; with `interval_s`, how many samples there should be."""
    idle_before: list[float | None] = []
    idle_after: list[float | None] = []
    not_measured: str | None = None
    """Why there are no values (the counter answered N/A), or not all of them."""
    source: str | None = None
    """How it was read: the call, the field or the file."""
    provenance: Provenance = "measured"


class Budget(Node):
    """Where the time of one thing goes. `parts` in ms; `after` the same parts once improved."""

    name: str
    arm: str | None = None
    total_ms: Number
    parts: dict[str, Number]
    after: dict[str, Number] = {}
    provenance: Provenance = "measured"


class Ablation(Node):
    """One thing timed whole, and again `without` a part at a time."""

    name: str
    arm: str | None = None
    full_ms: Number
    without: dict[str, Number]


class Factor(Node):
    """One factor of a ratio, as itself or as `over` / `under`."""

    name: str
    ratio: Number | None = None
    over: Number | None = None
    under: Number | None = None
    from_observed: bool = False
    """True when it was computed from the ratio that it is to explain."""
    provenance: Provenance = "measured"


class Decomposition(Node):
    """An observed ratio and the factors that are said to make it."""

    name: str
    arm: str | None = None
    observed: Number
    factors: list[Factor]


class Figures(Node):
    """Figures that one author printed of one thing; identities are tried on those that are there."""

    name: str
    arm: str | None = None
    tok_s: float | None = None
    ms_per_token: float | None = None
    tokens: int | None = None
    round_ms: float | None = None
    acceptance: float | None = None
    drafts: int | None = None
    tokens_per_round: float | None = None
    parts: list[float] = []
    whole: float | None = None
    over: float | None = None
    under: float | None = None
    ratio: float | None = None
    percent: float | None = None
    percent_more: float | None = None
    values: list[float] = []
    maximum: float | None = None
    minimum: float | None = None
    mean: float | None = None
    median: float | None = None
    sum: float | None = None
    range: float | None = None
    sd: float | None = None
    one_of: float | None = None
    kv_bytes: float | None = None
    context_tokens: int | None = None
    probe: float | None = None
    datasheet: float | None = None
    unit: str | None = None


class Transfer(Node):
    """What crosses a link: `bytes_per_token` per crossing, `crossings` of them per forward pass."""

    arm: str | None = None
    kind: Literal["hop", "all-reduce"] = "hop"
    bytes_per_token: float
    crossings: int
    latency_s: float | None = None
    prefill_tokens: int | None = None
    """Tokens that a prefill step carries at once."""
    hidden: bool = False
    """True where swapping the path changed the time by less than 1 % (an A/B was made)."""
    provenance: Provenance = "derived"
    source: str | None = None


class LinkProbe(Node):
    """One message between two devices, sent many times over each of two paths. `*_s` are medians."""

    name: str
    arm: str | None = None
    bytes: float
    direct_s: Number | None = None
    direct_least_s: Number | None = None
    host_s: Number | None = None
    host_least_s: Number | None = None
    """Through the host's memory: out of one device, into the other."""
    crossings: int | None = None
    """Such messages in one forward pass, where they are an engine's own."""
    provenance: Provenance = "measured"
    source: str | None = None


class Scaled(Node):
    """One thing on one device and on `n`: a rate (`tok/s`) or a time (`ms`)."""

    name: str
    arm: str | None = None
    n: int
    single: Number
    measured: Number
    ideal: Number | None = None
    """What `measured` would be if dividing the work cost nothing; without it `single` / n."""
    unit: Literal["tok/s", "requests/s", "ms", "s"] = "tok/s"


class Sends(Node):
    """The same prompt sent again and again."""

    arm: str | None = None
    prompt_tokens: int | None = None
    in_flight: int = 1
    ttft_ms: list[float] = []
    cached_tokens: list[int | None] = []
    control_ttft_ms: list[float] = []
    """First-token times of prompts as long, with another beginning, sent after the first one."""
    block_tokens: int | None = None
    """The cache keeps whole blocks of so many tokens."""


class Limit(Node):
    """A setting that bounds something, and how much of it was used: a power limit and the draw."""

    name: str
    arm: str | None = None
    limit: Number
    used: Number
    unit: str | None = None
    provenance: Provenance = "measured"


class Caching(Node):
    """What a prefix cache brought: throughput with it / without, and the share of hits."""

    name: str = "prefix cache"
    arm: str | None = None
    hit_rate: Number
    gain: Number
    prefill_share: Number | None = None
    """Share of the time that prompts took without the cache."""


class Observations(Node):
    format_version: int = 1
    origin: Literal["run", "audit", "import"] = "run"
    arms: dict[str, ArmObservation] = {}
    steps: list[Step] = []
    series: list[Series] = []
    budgets: list[Budget] = []
    ablations: list[Ablation] = []
    factors: list[Decomposition] = []
    figures: list[Figures] = []
    transfers: list[Transfer] = []
    link_probes: list[LinkProbe] = []
    scaled: list[Scaled] = []
    sends: list[Sends] = []
    limits: list[Limit] = []
    caching: list[Caching] = []
    outputs: list[Outputs] = []
    agreement: list[Agreement] = []
    parity: list[Parity] = []
