"""Parts of `observations` that are figures about figures: budgets, factors, identities, pairs."""

from typing import Annotated, Literal

from benchspec.spec.forms import Id, OneIsList, PositiveInt, Text, Whole
from benchspec.spec.node import Node, key
from benchspec.spec.quantity import (
    Count,
    Milliseconds,
    OneByte,
    OneCount,
    OneMillisecond,
    OnePart,
    OneSecond,
    OneTokenPerSecond,
    Part,
    Seconds,
)

Provenance = Literal["measured", "declared", "datasheet", "derived", "bound"]
"""Where a figure comes from."""

_ARM = "Id of an arm, where it belongs to one."
_NAME = "What it is: decode round, kernel, ..."
PROVENANCE = "measured (default), declared, datasheet, derived or bound."

Two = Annotated[list[Id], key(min_length=2, max_length=2)]


class Budget(Node):
    name: Text = key(description=_NAME)
    arm: Id | None = key(None, description=_ARM)
    total_ms: Milliseconds = key(description="The whole: 33 ms.")
    parts: dict[str, Milliseconds] = key(description="{attention: 10.5, matmul: 13.2}.")
    after: dict[str, Milliseconds] = key({}, description="The same parts once improved.")
    provenance: Provenance = key("measured", description=PROVENANCE)


class Ablation(Node):
    name: Text = key(description=_NAME)
    arm: Id | None = key(None, description=_ARM)
    full_ms: Milliseconds = key(description="With everything: 2.79 ms.")
    without: dict[str, Milliseconds] = key(description="{compute: 2.14, loads: 1.96}.")


class Factor(Node):
    name: Text = key(description="bytes per token, bandwidth, ...")
    ratio: Count | None = key(None, description="The factor itself.")
    over: Count | None = key(None, description="Or as a quotient: what is divided ...")
    under: Count | None = key(None, description="... by what.")
    from_observed: bool = key(
        False, description="true: computed from the ratio that it is to explain."
    )
    provenance: Provenance = key("measured", description=PROVENANCE)


class Decomposition(Node):
    name: Text = key(description=_NAME)
    arm: Id | None = key(None, description=_ARM)
    observed: Count = key(description="The ratio that was seen: 2.36.")
    factors: list[Factor] = key(description="What is said to make it.")


class Figures(Node):
    """Figures that one author printed of one thing."""

    name: Text = key(description=_NAME)
    arm: Id | None = key(None, description=_ARM)
    tok_s: OneTokenPerSecond | None = key(None, description="A rate as printed: 24.39.")
    ms_per_token: OneMillisecond | None = key(None, description="A time as printed: 39.2 ms.")
    tokens: PositiveInt | None = key(
        None, description="Tokens of the answer that both are of; a time may leave out the first."
    )
    round_ms: OneMillisecond | None = key(None, description="Time of a forward pass.")
    acceptance: OnePart | None = key(None, description="Accepted / drafted tokens: 0.77.")
    drafts: PositiveInt | None = key(None, description="Tokens drafted per round (k).")
    tokens_per_round: OneCount | None = key(
        None, description="Tokens per forward pass as printed (mean acceptance length): 2.3."
    )
    parts: list[OneCount] = key([], description="Parts of a whole.")
    whole: OneCount | None = key(None, description="The whole.")
    over: OneCount | None = key(None, description="What is divided ...")
    under: OneCount | None = key(None, description="... by what.")
    ratio: OneCount | None = key(None, description="The quotient as printed.")
    percent: OneCount | None = key(None, description="The quotient in percent: 10.6.")
    percent_more: OneCount | None = key(
        None, description="How much more, in percent: 47; less: -47."
    )
    values: list[OneCount] = key(
        [], description="A list of the author's own figures, or its ends: [96, 102]."
    )
    maximum: OneCount | None = key(None, description="The largest of them, as stated elsewhere.")
    minimum: OneCount | None = key(None, description="The smallest of them, as stated.")
    mean: OneCount | None = key(None, description="Their mean, as stated.")
    median: OneCount | None = key(None, description="Their median, as stated.")
    sum: OneCount | None = key(None, description="Their sum, as stated.")
    range: OneCount | None = key(None, description="The largest less the smallest, as stated.")
    sd: OneCount | None = key(None, description="Their standard deviation, as stated.")
    one_of: OneCount | None = key(None, description="A figure quoted as one of them: 106.")
    kv_bytes: OneByte | None = key(None, description="KV cache as printed: 7 GB.")
    context_tokens: PositiveInt | None = key(None, description="At this context.")
    probe: OneCount | None = key(None, description="A measured bandwidth or rate ...")
    datasheet: OneCount | None = key(None, description="... and what the datasheet says.")
    unit: Text | None = key(None, description="Unit of over, under, probe, ...")


class Transfer(Node):
    """What crosses a link in one forward pass."""

    arm: Id | None = key(None, description=_ARM)
    kind: Literal["hop", "all-reduce"] = key("hop", description="hop or all-reduce.")
    bytes_per_token: OneByte = key(description="Per crossing: 64 KiB.")
    crossings: PositiveInt = key(description="Crossings per forward pass.")
    latency_s: OneSecond | None = key(None, description="Measured time of an empty one.")
    prefill_tokens: PositiveInt | None = key(None, description="Tokens in a prefill step.")
    hidden: bool = key(False, description="true: another path changed the time by under 1 %.")
    provenance: Provenance = key("derived", description=PROVENANCE)
    source: Text | None = key(None, description="How the bytes are known.")


class LinkProbe(Node):
    """How long a message between two devices takes, directly and through the host's memory."""

    name: Text = key(description="Which devices, or what is exchanged.")
    arm: Id | None = key(None, description=_ARM)
    bytes: OneByte = key(description="Size of the message: 4 KiB.")
    direct_s: Seconds | None = key(None, description="Directly, the median: 3.2 us.")
    direct_least_s: Seconds | None = key(None, description="Directly, the least of many.")
    host_s: Seconds | None = key(None, description="Through the host, the median: 16 us.")
    host_least_s: Seconds | None = key(None, description="Through the host, the least of many.")
    crossings: PositiveInt | None = key(
        None, description="Such messages in one forward pass, where they are an engine's own."
    )
    provenance: Provenance = key("measured", description=PROVENANCE)
    source: Text | None = key(None, description="How it was timed.")


class Scaled(Node):
    """One thing measured on one device and on n."""

    name: Text = key(description=_NAME)
    arm: Id | None = key(None, description=_ARM)
    n: PositiveInt = key(description="How many devices.")
    single: Count = key(description="On one of them.")
    measured: Count = key(description="On n of them.")
    ideal: Count | None = key(None, description="If dividing cost nothing; else single / n.")
    unit: Literal["tok/s", "requests/s", "ms", "s"] = key(
        "tok/s", description="tok/s, requests/s, ms or s."
    )


class Sends(Node):
    """Identical prompts, one after the other, and what of them came from a prefix cache."""

    arm: Id | None = key(None, description=_ARM)
    prompt_tokens: PositiveInt | None = key(None, description="Length of the prompt.")
    in_flight: PositiveInt = key(1, description="Requests in flight meanwhile.")
    ttft_ms: Annotated[list[OneMillisecond], OneIsList()] = key(
        [], description="First-token times in order: [6.8 s, 6.8 s]."
    )
    cached_tokens: Annotated[list[Whole | None], OneIsList()] = key(
        [], description="Cached tokens of each, as the server counts them."
    )
    control_ttft_ms: Annotated[list[OneMillisecond], OneIsList()] = key(
        [], description="The same for prompts as long with another beginning, sent afterwards."
    )
    block_tokens: PositiveInt | None = key(None, description="Tokens of one block of the cache.")


class Limit(Node):
    """A limit that was set; arms that differ in it differ in one thing, by its name."""

    name: Text = key(description="power limit, max-num-seqs, ...")
    arm: Id | None = key(None, description=_ARM)
    limit: Count = key(description="What was set: 500.")
    used: Count = key(description="The most that was used of it: 246.")
    unit: Text | None = key(None, description="Unit of both: W.")
    provenance: Provenance = key("measured", description=PROVENANCE)


class Caching(Node):
    """What a prefix cache brought."""

    name: Text = key("prefix cache", description=_NAME)
    arm: Id | None = key(None, description=_ARM)
    hit_rate: Part = key(description="Prompt tokens from the cache: 94.6 %.")
    gain: Count = key(description="Throughput with it / without: 1.06.")
    prefill_share: Part | None = key(
        None, description="Share of the time that prompts take without it."
    )


class Outputs(Node):
    arm: Id | None = key(None, description=_ARM)
    count: PositiveInt = key(description="How many answers.")
    degenerate: Whole | None = key(None, description="How many repeat themselves without end.")
    truncated: Whole | None = key(None, description="How many ended at the limit.")
    prompts: Text | None = key(None, description="What was asked.")


class Agreement(Node):
    arms: Two = key(description="The two arms.")
    common_prefix_tokens: list[Whole] = key([], description="Equal tokens at the start of each.")
    whole_tokens: list[Whole] = key([], description="Tokens of answers that are equal to the end.")
    acceptance: list[OnePart] = key([], description="Acceptance of each arm.")


class Parity(Node):
    arms: Two = key(description="The two arms.")
    n: PositiveInt = key(description="How many questions.")
    correct: list[Whole] = key([], description="Right answers of each arm: [237, 245].")
    only_first: Whole | None = key(None, description="Right in the first arm alone.")
    only_second: Whole | None = key(None, description="Right in the second arm alone.")
    margin: OnePart | None = key(None, description="The difference that counts as none: 3 %.")
    truncated: list[OnePart] = key([], description="Share that ended at the limit, per arm.")
