"""How an arm is set up: devices, split, slots, drafts; as declared, over what was observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchspec.judge import hardware
from benchspec.judge.result import Input
from benchspec.knowledge import engines
from benchspec.knowledge.model import SettingUse
from benchspec.observations.model import SLOT_SETTINGS, ArmObservation, Step
from benchspec.observations.node import Provenance
from benchspec.spec.arms import ResolvedArm
from benchspec.spec.models import Device, Link, Model

_PIPELINE = ("pipeline-parallel-size", "pp-size")
_TENSOR = ("tensor-parallel-size", "tp-size", "tp")
_DRAFTS = (
    "spec-draft-n-max",
    "draft-max",
    "speculative-num-draft-tokens",
    "num-speculative-tokens",
    "spec-tokens",
)


@dataclass(frozen=True)
class Slots:
    """S: how many requests an arm's server takes at once, and how that is known."""

    count: int
    provenance: Provenance
    source: str
    inferred_from: int | None = None
    """The concurrency of the step whose completions gave it."""

    def as_input(self) -> Input:
        return Input(
            name="S", value=self.count, unit="slots", provenance=self.provenance, source=self.source
        )


@dataclass(frozen=True)
class Setup:
    """One arm. `resolved` is None for an arm that was only observed."""

    arm: str
    resolved: ResolvedArm | None
    observed: ArmObservation
    all_links: Sequence[Link]

    @property
    def model(self) -> Model:
        """The arm's model; an empty one when nothing is declared."""
        return self.resolved.model if self.resolved else Model()

    @property
    def counts_tokens(self) -> bool:
        """False for a command that is timed: it gives seconds, not tokens."""
        engine = self.resolved.engine if self.resolved else None
        return engine is None or engine.kind != "command"

    @property
    def devices(self) -> Sequence[Device]:
        """The devices that the arm uses. Split over none of them, only the first is one."""
        devices = self.resolved.devices if self.resolved else []
        return devices[:1] if self._stated_split == "none" else devices

    def bandwidths(self, resident: float | None) -> list[hardware.Bandwidth | None]:
        """The memory bandwidth of each device: as stated, unless that is a datasheet's figure and a
        probe measured the device; else as found. `resident`: bytes that are read.

        Nothing found is used where the shares of unlike devices are not known: a CPU that is listed
        beside a card need not hold any of the model.
        """
        alike = len({device.kind for device in self.devices}) == 1
        known = alike or all(device.share is not None for device in self.devices)
        return [self._bandwidth(d, resident, use_found=known) for d in self.devices]

    def _bandwidth(
        self, device: Device, resident: float | None, *, use_found: bool
    ) -> hardware.Bandwidth | None:
        stated = hardware.bandwidth(device, resident)
        identity = self.observed.identity if use_found else {}
        found = hardware.found_bandwidth(device.id, identity, resident)
        if stated is None or found is None:
            return stated or found
        better = stated.provenance == "datasheet" and found.provenance == "measured"
        return found if better else stated

    @property
    def loaded_bytes(self) -> float | None:
        """Bytes of all tensors of the loaded model, unless they are known to lie elsewhere: in host
        memory where the arm has cards, on cards where it has none."""
        elsewhere = {"host": ("gpu", "npu"), "cards": ("cpu",), None: ()}[self.observed.loaded_on]
        here = all(device.kind not in elsewhere for device in self.devices)
        return self.observed.model_bytes if here else None

    @property
    def kv_room(self) -> int | None:
        """Tokens for which the KV cache was allocated: as found, else slots x their context."""
        seen = self.observed
        if seen.kv_tokens is not None:
            return seen.kv_tokens or None
        return (seen.slots or 0) * (seen.context_per_slot or 0) or None

    @property
    def links(self) -> Sequence[Link]:
        """The links between the arm's devices."""
        ids = {device.id for device in self.devices}
        return [link for link in self.all_links if set(link.between) <= ids]

    def copied(self, link: Link) -> hardware.Known | None:
        """What a run recalls of copies over `link`, unless another link joins the same devices: then
        nobody knows which one they took."""
        beside = [k for k in self.all_links if set(k.between) == set(link.between)]
        alone = len(beside) <= 1
        return hardware.recalled(link, self.observed.identity) if alone else None

    @cached_property
    def settings(self) -> Mapping[str, SettingUse]:
        """What the engine was told, by canonical name."""
        engine = self.resolved.engine if self.resolved else None
        if engine is None:
            return {}
        return engines.effective(
            engine.kind, flags=engine.flags, command=engine.command, env=engine.env
        )

    def _number(self, names: Sequence[str]) -> int | None:
        values = [self.settings[n].value for n in names if n in self.settings]
        whole = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
        return whole[0] if whole else None

    @cached_property
    def _stated_split(self) -> str | None:
        if self.observed.split is not None:
            return self.observed.split
        use = self.settings.get("split-mode")
        if use is not None:
            return str(use.value)
        if (self._number(_TENSOR) or 1) > 1:
            return "tensor"
        return "pipeline" if (self._number(_PIPELINE) or 1) > 1 else None

    @property
    def split(self) -> str | None:
        """none, layer, pipeline or tensor; None when several devices share it in an unknown way.

        llama.cpp splits by layers when nothing is said.
        """
        if len(self.devices) < 2:
            return "none" if self.devices else self._stated_split
        engine = self.resolved.engine if self.resolved else None
        default = "layer" if engine and engine.kind == "llama.cpp" else None
        return self._stated_split or default

    def alike(self, other: Setup) -> bool:
        """Whether both run the same model on the same kind of engine."""
        mine, theirs = self.resolved, other.resolved
        if mine is None or theirs is None or mine.engine is None or theirs.engine is None:
            return False
        return mine.engine.kind == theirs.engine.kind and mine.model == theirs.model

    def drafts(self, step: Step) -> int | None:
        """k: tokens drafted per round, as observed or as the engine was told."""
        return step.drafts if step.drafts is not None else self._number(_DRAFTS)

    def declared_slots(self) -> Slots | None:
        """What the spec asks for, or what the engine does when nothing is said."""
        engine = self.resolved.engine if self.resolved else None
        if engine is None:
            return None
        if engine.slots is not None:
            return Slots(engine.slots, "declared", "engine.slots of the spec")
        for name in SLOT_SETTINGS:
            count = self._number([name])
            if count is not None and count > 0:
                return Slots(count, "declared", f"{name} in the spec")
        known = engines.engine(engine.kind)
        if known is None or known.default_slots is None:
            return None
        return Slots(known.default_slots, "declared", f"default of {engine.kind}")

    @property
    def replicas(self) -> int:
        """Equal servers behind the arm's address."""
        return self.observed.replicas or 1

    def kv_slots(self, prompt: float | None, output: float | None) -> Slots | None:
        """How many requests the KV cache holds: KV / (prompt + output) of them for certain.

        `prompt` and `output` are tokens of a request as seen, where the workload states none.
        """
        kv, workload = self.observed.kv_tokens, self.resolved.workload if self.resolved else None
        prompt = workload.prompt.tokens if workload and workload.prompt.tokens else prompt
        output = workload.output.tokens if workload and workload.output.tokens else output
        if kv is None or prompt is None or prompt < 1:
            return None
        each = prompt + (output or 0)
        certain, most = (int(kv // size) * self.replicas for size in (each, prompt))
        source = f"KV cache of {kv} tokens / {each:.0f} per {'request' if output else 'prompt'}"
        source += f" x {self.replicas} replicas" if self.replicas > 1 else ""
        if most > certain:
            source += (
                f"; {most - certain} more may be admitted on the prompt alone and preempted later"
            )
        return Slots(certain, "bound", source)
