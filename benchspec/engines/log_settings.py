"""The settings that a server's log shows it runs with, under their canonical names. Pure.

Engines print what they were given, and what they made of it, as Python shows it:
`{'max_num_seqs': 4, ...}` or `max_seq_len=8192, dtype=torch.bfloat16, ...`. Of these only settings
that are known, and whose values are numbers or plain words, are taken over: such a line also holds
keys, paths and prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from benchspec.engines.llama_cpp_found import Scalar
from benchspec.engines.log_drift import Marks, drift
from benchspec.engines.log_reading import LogForm, numbered, read, typed
from benchspec.knowledge import engines as knowledge
from benchspec.store.records import LogFinding

_PAIR = re.compile(
    r"(?:'(?P<quoted>\w+)': |(?<![\w.'])(?P<bare>\w+)=)"
    r"(?:'(?P<text>[^']*)'|(?P<plain>[^\s,'(){}\[\]]+))(?=\s*[,)}]|\s*\Z)"
)
_INNERMOST = re.compile(r"[\w.]*[(\[{][^()\[\]{}]*[)\]}]")
_PLAIN = re.compile(r"[\w.:+-]{1,60}", re.A)
_MOST_NESTED = 50

_NOT_OF_THE_MEASUREMENT = frozenset({"none", "server", "logging", "model"})


@dataclass(frozen=True)
class Renamed:
    """A name in the log, of an argument or a fact, and the canonical setting that it is."""

    name: str
    setting: str


@dataclass(frozen=True)
class ServerLog:
    """What a server's log says. `settings`: canonical name -> value as the server runs; `stated`
    are those that were given to it and are no defaults; `facts` are named as in `Found`."""

    facts: dict[str, object]
    findings: list[LogFinding]
    settings: dict[str, Scalar]
    stated: frozenset[str]


@dataclass(frozen=True)
class EngineLog:
    """One engine's log: its form, and what its names mean.

    `slots`, `context` and `replicas` name the settings that say how many requests are served at
    once, the longest of them in tokens, and how many such servers there are; `devices` those whose
    product is the number of devices that share one model. `derived` gives figures that follow from
    several facts.
    """

    kind: str
    form: LogForm
    marks: Marks = field(default_factory=lambda: Marks(()))
    renamed: tuple[Renamed, ...] = ()
    slots: str | None = None
    context: str | None = None
    replicas: str | None = None
    devices: tuple[str, ...] = ()
    derived: Callable[[Mapping[str, object]], Mapping[str, Scalar]] = lambda facts: {}

    def read(self, lines: Iterable[str], *, asked: Collection[str], first: int = 1) -> ServerLog:
        """The log of a server's start and of what came after, until now; lines count from `first`.

        What the engine changes on its own, and nobody asked otherwise, is a warning: to adapt is
        what such an engine does.
        """
        kept = list(numbered(lines, self.form, first=first))
        reading = read(kept, self.form, asked=asked)
        findings = [_softened(one, asked) for one in reading.findings]
        facts = {**reading.facts, **self.derived(reading.facts)}
        arguments = self._canonical(pairs(str(facts.pop("arguments", ""))))
        resolved = self._canonical(pairs(str(facts.pop("settings", ""))))
        settings = arguments | resolved | self._canonical(_scalars(facts))
        return ServerLog(
            facts=facts | self._facts(facts, settings),
            findings=[*findings, *drift(kept, self.form, self.marks)],
            settings=settings,
            stated=frozenset(arguments),
        )

    def trouble(
        self, lines: Iterable[str], *, asked: Collection[str], first: int = 1
    ) -> list[LogFinding]:
        """What the lines say that a running server has added since."""
        added = numbered(lines, self.form, first=first)
        reading = read(added, self.form, asked=asked, running=True)
        return [_softened(one, asked) for one in reading.findings]

    def _canonical(self, stated: Iterable[tuple[str, Scalar]]) -> dict[str, Scalar]:
        """The known settings of a measurement among names as the engine spells them."""
        known = knowledge.engine(self.kind)
        names = {one.name: one.setting for one in self.renamed}
        found: dict[str, Scalar] = {}
        for name, value in stated:
            setting = names.get(name) or knowledge.canonical(self.kind, name)
            entry = known.settings.get(setting) if known else None
            if entry is not None and not _NOT_OF_THE_MEASUREMENT.issuperset(entry.affects):
                found.setdefault(setting, value)
        return found

    def _facts(self, facts: Mapping[str, object], settings: Mapping[str, Scalar]) -> dict[str, int]:
        """The settings and sizes that everything else asks for, under common names."""
        found = {
            "slots": self.slots and settings.get(self.slots),
            "context_per_slot": self.context and settings.get(self.context),
            "replicas": self.replicas and settings.get(self.replicas),
        }
        if self._one_device(settings):
            found |= _on_one_device(facts)
        return {name: value for name, value in found.items() if type(value) is int and value > 0}

    def _one_device(self, settings: Mapping[str, Scalar]) -> bool:
        """Whether what the log says of a device is said of the whole model."""
        return bool(self.devices) and all(settings.get(name) == 1 for name in self.devices)


def _on_one_device(facts: Mapping[str, object]) -> dict[str, Scalar | None]:
    """Bytes of the weights and MiB of the KV cache, from GiB."""
    halves = [facts.get("k_gib_per_device"), facts.get("v_gib_per_device")]
    numbers = [half for half in halves if isinstance(half, int | float)]
    kv = sum(numbers) if len(numbers) == 2 else facts.get("kv_gib_per_device")
    weights = facts.get("weights_gib_per_device")
    return {
        "kv_mib": round(kv * 1024) if isinstance(kv, int | float) else None,
        "weights_bytes": round(weights * 2**30) if isinstance(weights, int | float) else None,
    }


def _softened(finding: LogFinding, asked: Collection[str]) -> LogFinding:
    if finding.effect in ("changed", "fell-back", "ignored") and finding.setting not in asked:
        return finding.model_copy(update={"effect": "warning"})
    return finding


def _scalars(facts: Mapping[str, object]) -> Iterator[tuple[str, Scalar]]:
    for name, value in facts.items():
        if isinstance(value, Scalar):
            yield name, value


def pairs(text: str) -> Iterator[tuple[str, Scalar]]:
    """Name and value of each argument in a printed dictionary or call; nested ones, None and what
    is neither number nor plain word are passed over."""
    flat = text.strip().removeprefix("{").removesuffix("}")
    for _ in range(_MOST_NESTED):
        flat, changed = _INNERMOST.subn("", flat)
        if not changed:
            break
    for match in _PAIR.finditer(flat):
        value = match["text"] if match["text"] is not None else match["plain"]
        value = value.removeprefix("torch.")
        if value != "None" and _PLAIN.fullmatch(value):
            yield match["quoted"] or match["bare"], typed(value)
