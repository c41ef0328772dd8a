"""The key `observations`: what someone else measured, as a person writes it down.

The keys are those of `observations.json`. A figure is a number in the unit that its key names, or
text with a unit, or an interval: `wall_s: 31.3`, `ttft_ms: 6.8 s`, `stream_tok_s: 86..98`. What is
not known is left out; most of it usually is. Budgets, factors and the like are in
`observed_figures`.
"""

from typing import Annotated, Literal

from benchspec.spec.forms import Id, NotAvailable, OneIsList, PositiveInt, Setting, Text, Whole
from benchspec.spec.node import Node, key
from benchspec.spec.observed_figures import (
    PROVENANCE,
    Ablation,
    Agreement,
    Budget,
    Caching,
    Decomposition,
    Figures,
    Limit,
    LinkProbe,
    Outputs,
    Parity,
    Provenance,
    Scaled,
    Sends,
    Transfer,
)
from benchspec.spec.quantity import (
    Count,
    Joules,
    Milliseconds,
    OneByte,
    OneCount,
    OneMillisecond,
    OneSecond,
    OneShare,
    OneTokenPerSecond,
    Part,
    Seconds,
    TokensPerSecond,
)

COUNTERS: dict[str, tuple[str, ...]] = {
    "utilization": ("%",),
    "utilization_memory": ("%",),
    "memory_used": ("MiB", "GiB", "MB", "GB"),
    "clocks_sm": ("MHz",),
    "clocks_memory": ("MHz",),
    "power": ("W",),
    "energy": ("W", "J"),
    "temperature": ("°C", "C"),
    "pcie_rx": ("MB/s",),
    "pcie_tx": ("MB/s",),
    "nvlink_rx": ("MB/s",),
    "nvlink_tx": ("MB/s",),
    "xgmi_rx": ("MB/s",),
    "xgmi_tx": ("MB/s",),
    "throttle": ("bits",),
    "throttle_power_cap": ("%",),
    "throttle_power_brake": ("%",),
    "throttle_thermal": ("%",),
    "throttle_hw_slowdown": ("%",),
    "throttle_time_power": ("%",),
    "throttle_time_thermal": ("%",),
}
"""Counters that are understood, and the units that they are read in."""

ENGINE_AVERAGES: dict[str, tuple[str, ...]] = {
    "prompt_throughput": ("tok/s",),
    "generation_throughput": ("tok/s",),
    "requests_running": ("1",),
    "requests_waiting": ("1",),
    "kv_cache_usage": ("%", "1"),
}
"""What engines log of themselves every few seconds, and its units: kept to look at, in no check."""

MOST_STEPS = 2_000
MOST_REQUESTS = 10_000


class TextMeasures(Node):
    chars: Whole = key(description="Characters, white space counted as single spaces.")
    looped_chars: Whole = key(description="Of them in blocks that stand four times in a row.")
    entropy_bits: float = key(ge=0, description="Entropy of its characters, bits each.")


class Request(Node):
    turn: PositiveInt | None = key(None, description="Its place in a conversation, from 1.")
    start_s: OneSecond | None = key(None, description="When it was sent, from the first one.")
    scheduled_s: OneSecond | None = key(None, description="When it should be sent (open loop).")
    first_token_s: OneSecond | None = key(None, description="When its first token came.")
    last_token_s: OneSecond | None = key(None, description="When its last token came.")
    end_s: OneSecond | None = key(None, description="When its answer ended.")
    ttft_ms: OneMillisecond | None = key(None, description="Time to its first token.")
    itl_ms: OneMillisecond | None = key(None, description="Mean time between its tokens.")
    tokens: Whole | None = key(None, description="Completion tokens, as the server counted them.")
    prompt_tokens: Whole | None = key(None, description="Prompt tokens.")
    cached_tokens: Whole | None = key(None, description="Prompt tokens taken from the cache.")
    draft_tokens: Whole | None = key(None, description="Tokens that were drafted.")
    accepted_tokens: Whole | None = key(None, description="Drafted tokens that were accepted.")
    self_reported_tok_s: OneTokenPerSecond | None = key(
        None, description="The rate that the server printed about this request."
    )
    server_prefill_ms: OneMillisecond | None = key(
        None, description="Prefill time, as the server says."
    )
    finish_reason: Text | None = key(None, description="stop, length, ...")
    output_sha256: Text | None = key(None, description="SHA-256 of the answer's text.")
    text: TextMeasures | None = key(None, description="Measures of the answer's text.")
    ok: bool = key(True, description="false: it failed, and is counted as failed.")
    error: Text | None = key(None, description="What went wrong.")


class Distribution(Node):
    n: PositiveInt | None = key(None, description="How many values.")
    mean: OneMillisecond | None = key(None, description="Their mean.")
    p50: OneMillisecond | None = key(None, description="The median.")
    p90: OneMillisecond | None = key(None, description="90 % are below.")
    p95: OneMillisecond | None = key(None, description="95 % are below.")
    p99: OneMillisecond | None = key(None, description="99 % are below.")
    max: OneMillisecond | None = key(None, description="The largest.")


class Window(Node):
    start_s: OneSecond = key(description="When C requests were first in flight.")
    end_s: OneSecond = key(description="When the last request was sent.")
    tokens: Whole = key(description="Tokens that came between the two.")


class Interference(Node):
    """What reading one request's prompt does to another that decodes: p99 of its times between tokens."""

    alone_ms: Milliseconds = key(description="While no other prompt was read: 22 ms.")
    beside_ms: Milliseconds = key(description="While another request's prompt was read: 1.2 s.")
    alone_n: PositiveInt | None = key(None, description="How many times the first is the p99 of.")
    beside_n: PositiveInt | None = key(None, description="How many the second is the p99 of.")
    prefill_ms: Milliseconds | None = key(
        None, description="Time to read one of these prompts: 1.3 s."
    )
    timed_by: Literal["server", "first-token"] | None = key(
        None, description="server: its own prefill times; first-token: the wait for it."
    )


class Client(Node):
    cpu_share: OneShare | None = key(None, description="Processor time / wall time of the client.")
    events: Whole | None = key(None, description="Events that the client handled.")
    events_per_s: OneCount | None = key(None, description="Events per second.")
    ceiling_events_s: OneCount | None = key(None, description="Events per second it can handle.")
    kernel_stamp_share: OneShare | None = key(None, description="Reads stamped by the kernel.")
    coalesced_share: OneShare | None = key(None, description="Reads that held several events.")
    send_lateness_ms_p50: OneMillisecond | None = key(None, description="Median send lateness.")
    send_lateness_ms_p99: OneMillisecond | None = key(None, description="p99 of send lateness.")
    read_lag_ms_p99: OneMillisecond | None = key(None, description="p99 from arrival to read.")
    stamp_source: Text | None = key(None, description="kernel or user.")
    telemetry_share: OneShare | None = key(
        None, description="Processor time / wall time of the threads that sample counters."
    )


class Quiet(Node):
    foreign_share: OneShare | None = key(
        None, description="CPU time of other processes / that of engine and client."
    )
    idle_before_share: OneShare | None = key(None, description="Busy cores before the step.")
    idle_after_share: OneShare | None = key(None, description="Busy cores after the step.")
    client_share: OneShare | None = key(None, description="Client / (engine + client) CPU time.")
    busy_share: OneShare | None = key(None, description="All CPU time / what all cores can give.")
    steal_share: OneShare | None = key(None, description="CPU time that the host took.")
    waited_s: OneSecond | None = key(None, description="How long the step waited for quiet.")
    reason: Text | None = key(None, description="Anything else about the machine.")


class Step(Node):
    """An arm at one concurrency (or rate), once."""

    arm: Id | None = key(None, description="Id of an arm; may be left out where there is one.")
    concurrency: PositiveInt | None = key(None, description="Requests in flight.")
    rate: OneCount | None = key(None, description="Requests per second (open loop).")
    context_tokens: PositiveInt | None = key(None, description="Context length in tokens.")
    cache: Literal["cold", "warm"] | None = key(None, description="Prefix cache: cold or warm.")
    material: Text | None = key(None, description="english-prose, code, ...")
    repeat: PositiveInt = key(1, description="Which repeat of the step this is.")
    seed: Whole | None = key(None, description="Seed of the repeat.")
    mode: Literal["burst", "sustained", "open"] | None = key(
        None, description="burst: a wave of C; sustained: C kept in flight; open: by rate."
    )
    state: Literal["done", "aborted", "failed"] = key("done", description="done or aborted.")
    reason: Text | None = key(None, description="Why it was aborted or failed.")
    provenance: Provenance = key("measured", description=PROVENANCE)
    source: Text | None = key(None, description="Where the figures stand: table 2, a log, ...")
    planned_requests: PositiveInt | None = key(None, description="Requests sent; default C.")
    achieved_rate: OneCount | None = key(None, description="Requests per second as sent.")
    wall_s: Seconds | None = key(None, description="First dispatch to last completion: 31.3 s.")
    requests: list[Request] = key(
        [], max_length=MOST_REQUESTS, description="The single requests, where they are known."
    )
    output_forced: bool | None = key(None, description="Whether all answers are equally long.")
    itl_ms: Distribution | None = key(
        None, description="Times between tokens: {mean: 842, p50: 44.6}."
    )
    interference: Interference | None = key(
        None, description="Times between tokens with and without another prompt being read."
    )
    window: Window | None = key(None, description="The steady part of a sustained step.")
    samples: Text | None = key(None, description="File of single samples.")
    client: Client | None = key(None, description="What the client knew of its own error.")
    quiet: Quiet | None = key(None, description="Processor time around the step.")
    waiting_max: OneCount | None = key(None, description="Most waiting requests on a counter.")
    running_max: OneCount | None = key(None, description="Most requests at work on a counter.")
    preemptions: Whole | None = key(None, description="Requests put back and computed again.")
    engine_restarted: bool | None = key(None, description="Whether the engine restarted inside.")
    repeats: PositiveInt | None = key(
        None,
        description="Repeats that the figures are the median of, where only that is known; an interval "
        "such as 50.9..70.0 is then their smallest and largest.",
    )
    aggregate_tok_s: TokensPerSecond | None = key(
        None, description="Throughput as printed: all completion tokens / wall time."
    )
    stream_tok_s: TokensPerSecond | None = key(
        None, description="Rate of one stream, as its client saw it."
    )
    self_reported_tok_s: TokensPerSecond | None = key(
        None, description="The sum of the rates that requests report about themselves."
    )
    prefill_tok_s: TokensPerSecond | None = key(None, description="Prompt tokens per second.")
    decode_tok_s: TokensPerSecond | None = key(
        None, description="Rate of one stream without the prefill."
    )
    round_ms: Milliseconds | None = key(None, description="Time of one forward pass: 32.4 ms.")
    acceptance: Part | None = key(None, description="Accepted / drafted tokens: 0.77.")
    tokens_per_round: Count | None = key(None, description="Tokens gained per forward pass.")
    drafts: PositiveInt | None = key(None, description="Tokens drafted per round (k).")
    ttft_ms: Milliseconds | None = key(None, description="Time to first token: 6.8 s.")
    cached_tokens: Count | None = key(None, description="Prompt tokens taken from the cache.")
    joules_per_token: Joules | None = key(None, description="Energy per token.")
    completions_s: list[OneSecond] = key([], description="When answers ended: [5.5, 11.1].")
    tokens_total: OneCount | None = key(None, description="Completion tokens of all requests.")
    tokens_per_request: OneCount | None = key(None, description="Forced length of each answer.")
    tokens_asked: OneCount | None = key(None, description="Length asked for, per request.")
    tokens_recounted: OneCount | None = key(
        None, description="Completion tokens of all requests, counted again from their texts."
    )
    reasoning_tokens: OneCount | None = key(
        None, description="Tokens per request before what the client calls the first."
    )
    chunks: OneCount | None = key(None, description="Pieces in which all answers arrived.")
    gap_ms: Milliseconds | None = key(None, description="Mean time between two pieces.")
    prompt_tokens: Count | None = key(None, description="Prompt tokens per request.")
    hit_rate: Part | None = key(
        None, description="Prompt tokens from the cache, as the server counts: 32.2 %."
    )
    latency_s: Seconds | None = key(None, description="Dispatch to completion of one: 8.29 s.")
    tpot_ms: Milliseconds | None = key(
        None, description="Time per token after the first; a decode rate where none is stated."
    )
    requests_per_s: Count | None = key(None, description="Requests completed per second.")
    server_tok_s: TokensPerSecond | None = key(
        None, description="The server's own account of the rate of one stream."
    )
    server_ttft_ms: Milliseconds | None = key(
        None, description="Time to the first token of any kind, nearer to the server."
    )
    errors: Whole | None = key(None, description="Requests that failed.")


class SettingSeen(Node):
    name: Text = key(description="The engine's name for it: parallel.")
    asked: Setting | None = key(None, description="What was asked for.")
    asked_source: Text | None = key(None, description="command line, environment, ...")
    found: Setting | None = key(None, description="What the running server had.")
    found_source: Text | None = key(None, description="start-up log, /props, ...")


class LogLine(Node):
    effect: Literal["refused", "changed", "ignored", "fell-back", "warning", "error"] = key(
        description="What the line says: refused, changed, ignored, fell-back, warning, error."
    )
    text: Text = key(description="The line, or what it says.")
    setting: Text | None = key(None, description="The setting that it is about.")
    line: PositiveInt | None = key(None, description="Line number in the log.")


class ArmSeen(Node):
    settings: list[SettingSeen] = key([], description="Settings, asked and found.")
    log: list[LogLine] = key([], description="Lines of the engine's log that matter.")
    identity: dict[str, Setting] = key(
        {},
        description="What must be equal for a comparison: {engine_build: b10064}. What is varied on "
        "purpose stands in `arms`, or under `limits`.",
    )
    slots: PositiveInt | None = key(None, description="Requests the server takes at once.")
    slots_source: Text | None = key(None, description="How that is known.")
    split: Literal["none", "layer", "pipeline", "tensor"] | None = key(
        None, description="How the model lies on several devices: layer, tensor, ..."
    )
    context_per_slot: PositiveInt | None = key(None, description="Context of one slot, in tokens.")
    kv_tokens: PositiveInt | None = key(None, description="Tokens that the KV cache holds.")
    replicas: PositiveInt | None = key(None, description="Equal servers behind one address.")
    weights_bytes: OneByte | None = key(None, description="Device memory of the weights: 4 GiB.")
    kv_bytes: OneByte | None = key(None, description="Device memory of the KV cache: 16 GiB.")
    model_bytes: OneByte | None = key(
        None, description="All tensors of the loaded model, if it has no experts: 16.8 GB."
    )


class Range(Node):
    low: OneCount = key(description="The smallest.")
    high: OneCount = key(description="The largest.")


Values = Annotated[list[Annotated[float, NotAvailable()]], OneIsList()]
"""Samples; null or N/A where there was none."""


class Series(Node):
    """Samples of one counter of one device."""

    counter: Text = key(description=f"One of {', '.join(COUNTERS)}.")
    unit: Text = key(
        description="Unit of the values: % (utilization, throttle), MB/s (links), MHz, W, °C; "
        "MiB, GiB, MB or GB (memory)."
    )
    device: Id | None = key(None, description="Id of the device.")
    arm: Id | None = key(None, description="Id of an arm; may be left out where there is one.")
    concurrency: PositiveInt | None = key(None, description="Requests in flight meanwhile.")
    rate: OneCount | None = key(None, description="Requests per second meanwhile.")
    context_tokens: PositiveInt | None = key(None, description="Context length meanwhile.")
    cache: Literal["cold", "warm"] | None = key(None, description="State of the prefix cache.")
    repeat: PositiveInt | None = key(None, description="Which repeat.")
    phase: Literal["prefill", "decode"] | None = key(None, description="prefill or decode.")
    interval_s: OneSecond | None = key(None, description="Sampling interval: 1 s.")
    window_s: OneSecond | None = key(None, description="What one sample looks at: 20 ms.")
    statistic: Text | None = key(None, description="mean, median, max or total.")
    values: Values = key([], description="The samples in order; null where one is missing.")
    times_s: list[OneSecond] = key([], description="When they were taken.")
    mean: Count | None = key(None, description="Mean, where the values are not known.")
    total: OneCount | None = key(None, description="Sum over the time, in unit x s: MB, J.")
    range: Range | None = key(None, description="Smallest and largest mean of a repeat.")
    counts: Annotated[list[Whole], OneIsList()] = key([], description="Samples in each repeat.")
    duration_s: OneSecond | None = key(None, description="How long was sampled.")
    idle_before: Values = key([], description="Samples of the idle time before.")
    idle_after: Values = key([], description="Samples of the idle time after.")
    not_measured: Text | None = key(None, description="Why there are no values: answers N/A.")
    source: Text | None = key(None, description="How it was read: nvidia-smi dmon -s t.")
    provenance: Provenance = key("measured", description=PROVENANCE)


class Observed(Node):
    """Everything that is known; every part may be left out."""

    source: Text | None = key(None, description="Where the figures are from: a blog post of ...")
    arms: dict[Id, ArmSeen] = key({}, description="By arm: settings, log, identity, slots.")
    steps: list[Step] = key([], max_length=MOST_STEPS, description="What was run, step by step.")
    series: list[Series] = key(
        [], max_length=MOST_STEPS, description="Counters of devices over time."
    )
    budgets: list[Budget] = key([], description="A whole and its named parts.")
    ablations: list[Ablation] = key([], description="One thing timed whole and without a part.")
    factors: list[Decomposition] = key([], description="A ratio and the factors said to make it.")
    figures: list[Figures] = key([], description="Figures of one thing that should agree.")
    transfers: list[Transfer] = key([], description="What crosses a link, and how often.")
    link_probes: list[LinkProbe] = key(
        [], description="Times of a message between two devices, by its size."
    )
    scaled: list[Scaled] = key([], description="One thing on one device and on n.")
    sends: list[Sends] = key([], description="The same prompt sent again and again.")
    limits: list[Limit] = key([], description="Limits that were set, and what was used of them.")
    caching: list[Caching] = key([], description="What a prefix cache brought.")
    outputs: list[Outputs] = key([], description="What was seen of the answers' texts.")
    agreement: list[Agreement] = key([], description="Greedy answers of two arms compared.")
    parity: list[Parity] = key([], description="The same questions to two arms.")
