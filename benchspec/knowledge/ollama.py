"""Ollama 0.33: set through variables of its server and PARAMETER lines of a Modelfile.

`ollama serve` takes no flags that matter; a request may carry the same options as a Modelfile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, pyvalues, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading
from benchspec.knowledge.reading import Collector, did_you_mean

_SETTINGS = table.load("ollama")
_DIALECT = arguments.Dialect(
    "ollama", _SETTINGS, positional=("model",), abbreviations=False, switch_values=True
)

_GONE = {
    "OLLAMA_NEW_ENGINE": "every GGUF runs in a llama-server child now",
    "OLLAMA_MULTIUSER_CACHE": "every GGUF runs in a llama-server child now",
    "OLLAMA_NEW_ESTIMATES": "every GGUF runs in a llama-server child now",
    "OLLAMA_MAX_VRAM": "it is no longer read",
    "OLLAMA_RUNNERS_DIR": "it is no longer read",
    "OLLAMA_TMPDIR": "it is no longer read",
}
_CLIENTS = ("run", "create", "show", "pull", "ps", "list", "stop", "cp", "rm", "push", "launch")


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `ollama serve` and `ollama run MODEL`; a prompt after the model is no setting."""
    command = argv[0] if argv and origin == "command" else ""
    words = list(argv[1:] if command in ("serve", "start", *_CLIENTS) else argv)
    reading = arguments.parse(_DIALECT, words, origin)
    if command == "run":
        reading.problems = [each for each in reading.problems if each.kind != "stray-argument"]
    return reading


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from OLLAMA_ variables; quotes around a value are dropped, a bad number is ignored."""
    cleaned = {name: value.strip("\"' ") for name, value in env.items()}
    stated = {name: value for name, value in cleaned.items() if value}
    read = arguments.parse_env(_SETTINGS, stated)
    reading = Reading(read.settings)
    for problem in read.problems:
        raw = stated[problem.flag or ""]
        said = f"{problem.flag}={raw}: Ollama cannot read this value and takes its default"
        reading.complain("env-ignored", said, problem.flag)
    named = [setting.env for setting in _SETTINGS.values() if setting.env]
    known = [name for name in named if name.startswith("OLLAMA_")]
    for name in env:
        if name.startswith("OLLAMA_") and name not in known:
            instead = f": {_GONE[name]}" if name in _GONE else did_you_mean(name, known)
            said = f"{name} is ignored: Ollama 0.33 has no such variable{instead}"
            reading.complain("env-ignored", said, name)
    return reading


_INSTRUCTION = re.compile(
    r"^[ \t]*(FROM|PARAMETER|TEMPLATE|SYSTEM|ADAPTER|DRAFT|LICENSE|MESSAGE|REQUIRES)[ \t]+"
    r'("""(?:.|\n)*?"""|[^\n]*)',
    re.IGNORECASE | re.MULTILINE,
)
_FILE_SETTINGS = {"FROM": "model", "TEMPLATE": "template", "SYSTEM": "system"}
_FILE_SETTINGS |= {"ADAPTER": "adapter", "DRAFT": "draft"}


def parse_modelfile(text: str) -> Reading | None:
    """The settings of a Modelfile, or None for a text that opens with no instruction of one."""
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    opening = _INSTRUCTION.match(body.lstrip())
    if opening is None:
        return None
    out = Collector("config")
    for match in _INSTRUCTION.finditer(body):
        word, rest = match[1].upper(), match[2].strip()
        if word == "PARAMETER":
            name, _, value = rest.partition(" ")
            _parameter(out, name, value.strip())
        elif word in _FILE_SETTINGS:
            setting = _SETTINGS[_FILE_SETTINGS[word]]
            value = rest.strip('"')
            out.put(setting, value, word, value)
    return out.reading


def _parameter(out: Collector, name: str, text: str) -> None:
    setting = _SETTINGS.get(name.lower().replace("_", "-"))
    raw = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if setting is None:
        near = did_you_mean(name, [key.replace("-", "_") for key in _SETTINGS])
        said = f"PARAMETER {name[:60]} is not one that Ollama has{near}"
        out.reading.complain("unknown-flag", said, name[:60])
        return
    value, complaint = pyvalues.read_value(setting, raw, f"PARAMETER {name}")
    if complaint:
        out.reading.complain(*complaint, name)
    else:
        out.put(setting, value, f"PARAMETER {name}", raw)


KNOWLEDGE = EngineKnowledge(
    kind="ollama",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="ollama",
    default_slots=1,
    config_files=("the model's Modelfile",),
    version="0.33.0",
    parse_text=parse_modelfile,
    clients=_CLIENTS,
)
