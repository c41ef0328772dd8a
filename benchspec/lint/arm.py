"""One arm as rules see it: the settings that really hold, and the line that a person must change."""

from __future__ import annotations

from collections.abc import Mapping

from benchspec.knowledge import engines
from benchspec.knowledge.model import EngineKnowledge, Reading, SettingUse, Value
from benchspec.lint.fixes import Append, Fix, Put
from benchspec.spec.arms import ResolvedArm
from benchspec.spec.problems import Path
from benchspec.spec.source import Document

SLOT_SETTING = {
    "llama.cpp": "parallel",
    "vllm": "max-num-seqs",
    "sglang": "max-running-requests",
    "ollama": "num-parallel",
    "mlx-lm": "decode-concurrency",
    "lm-studio": "parallel",
    "tabbyapi": "max-batch-size",
    "tgi": "max-concurrent-requests",
    "tensorrt-llm": "max-batch-size",
    "lmdeploy": "max-batch-size",
    "koboldcpp": "parallelrequests",
}
"""Engine kind -> the setting that says how many requests are served at once."""

CONTEXT_SETTING = {
    "llama.cpp": "ctx-size",
    "vllm": "max-model-len",
    "sglang": "context-length",
    "ollama": "num-ctx",
}
"""Engine kind -> the setting that bounds the context."""


class Arm:
    """A resolved arm: the settings that hold, and where its parts stand in the document.

    `reading` is what its flags, command line and environment state together, and what is wrong
    with them.
    """

    def __init__(self, resolved: ResolvedArm, document: Document, reading: Reading) -> None:
        self.id = resolved.id
        self.control_for = resolved.control_for
        self.engine = resolved.engine
        self.model = resolved.model
        self.workload = resolved.workload
        self.devices = resolved.devices
        self.path = resolved.path
        self.reading = reading
        self._resolved = resolved
        self._document = document

    @property
    def kind(self) -> str:
        return self.engine.kind if self.engine else ""

    @property
    def knowledge(self) -> EngineKnowledge | None:
        return engines.engine(self.kind)

    @property
    def attached(self) -> bool:
        return bool(self.engine and self.engine.attach)

    @property
    def serves(self) -> bool:
        """True when requests are sent to it: not to an engine of kind `command`, which is timed as a
        whole, and not to a program such as llama-bench."""
        return bool(self.kind) and self.kind != "command" and not self._no_server

    @property
    def _no_server(self) -> bool:
        return any(problem.kind == "not-a-server" for problem in self.reading.problems)

    @property
    def stated_in_full(self) -> bool:
        """True when a setting that is not written here is at the engine's default.

        Of an attached server only what the author chose to write down is known, unless that is
        its whole command line.
        """
        return self.engine is not None and bool(not self.attached or self.engine.command)

    @property
    def settings(self) -> Mapping[str, SettingUse]:
        """Canonical name -> what is stated, as the engine reads it."""
        return self.reading.settings

    def value(self, name: str) -> Value:
        """The stated value of a setting; None where nothing is stated."""
        use = self.settings.get(name)
        return use.value if use else None

    def number(self, name: str) -> int | None:
        """The stated value of a setting as a whole number; None where it is absent or a word."""
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
            return None
        return int(value)

    @property
    def slot_setting(self) -> str | None:
        return SLOT_SETTING.get(self.kind)

    def place(self, name: str) -> Path:
        """Where the setting `name` stands, or else where a person would add it."""
        use = self.settings.get(name)
        return self._where(use) if use else self.flags_place

    @property
    def flags_place(self) -> Path:
        """Where a setting is added: the command line, else the flags, base before arm."""
        if self.engine and self.engine.command:
            return self.part("engine", "command")
        own: Path = (*self.path, "engine")
        places: tuple[Path, ...] = (("engine", "flags"), (*own, "flags"), ("engine",), own)
        return next((place for place in places if place in self._document.spans), ("engine",))

    def how_to_set(self, name: str, value: str) -> str:
        """What a person does to give the setting `name` a value, where this arm states its flags."""
        if self.engine and self.engine.command and self.knowledge:
            setting = self.knowledge.find(name)
            flag = setting.flags[0] if setting and setting.flags else f"--{name}"
            return f"add `{flag} {value.strip(chr(34))}` to the command line"
        return f"add `{name}: {value}` to engine.flags"

    def fix_for(self, name: str, value: str) -> Fix | None:
        """The change that gives the setting `name` the value `value`, written as in `flags`."""
        use = self.settings.get(name)
        if use is not None:
            path = self._where(use)
            stated = path[-1] not in ("command", "flags", "engine")
            return Put(path[:-1], str(path[-1]), value) if stated else None
        if self.engine and self.engine.command and self.knowledge:
            setting = self.knowledge.find(name)
            words = f"{setting.flags[0]} {value.strip(chr(34))}" if setting else ""
            return Append(self.flags_place, words) if words else None
        place = self.flags_place
        return Put(place if place[-1] == "flags" else (*place, "flags"), name, value)

    def part(self, *path: str | int) -> Path:
        """`path` inside this arm where the arm states it, else in the base."""
        return self._resolved.where(path)

    def stated_at(self, spelled: str) -> Path | None:
        """Where `spelled`, a flag or a variable as typed, stands outside the command line."""
        variable = self.part("engine", "env", spelled)
        if variable in self._document.spans:
            return variable
        stated = self._resolved.stated.get(engines.canonical(self.kind, spelled))
        return stated.path if stated else None

    def _where(self, use: SettingUse) -> Path:
        if use.origin in ("env", "flag"):
            stated = self.stated_at(use.spelled) or self.stated_at(use.name)
            if stated:
                return stated
        return self.part("engine", "command")
