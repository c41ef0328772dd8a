"""vLLM 0.32.0: its settings, and its command line read as its FlexibleArgumentParser reads it.

Beyond argparse: `_` is `-` up to the first dot; `--x.a.b v` builds the JSON of `--x`, `--x.a+ v`
appends to a list in it; `-O3`, `-O 3`, `-O=3` are the optimisation level; `--model` may stand for
the positional model. Sizes take k (1000) and K (1024).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, pyvalues, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading, Removed, SettingUse, Value
from benchspec.knowledge.reading import did_you_mean

_SETTINGS = table.load("vllm")

REMOVED = (
    Removed(("--disable-log-requests",), note="off is the default; --enable-log-requests turns it on"),
    Removed(("--swap-space",), takes_value=True),
    Removed(("--num-scheduler-steps",), takes_value=True),
    Removed(("--use-v2-block-manager",)),
    Removed(("--preemption-mode",), takes_value=True),
    Removed(("--scheduler-delay-factor",), takes_value=True),
    Removed(("--max-seq-len-to-capture",), "--max-cudagraph-capture-size", takes_value=True),
    Removed(("--cuda-graph-sizes",), "--cudagraph-capture-sizes", takes_value=True),
    Removed(("--enable-reasoning",), "--reasoning-parser"),
    Removed(("--max-num-partial-prefills",), takes_value=True),
    Removed(("--max-long-partial-prefills",), takes_value=True),
    Removed(("--guided-decoding-backend",), "--structured-outputs-config.backend", takes_value=True),
    Removed(
        ("--speculative-model",),
        "--speculative-config.model",
        takes_value=True,
        means=("spec-model", None),
    ),
    Removed(
        ("--num-speculative-tokens",),
        "--speculative-config.num_speculative_tokens",
        takes_value=True,
        means=("spec-tokens", None),
    ),
    Removed(("--rope-scaling", "--rope-theta"), "--hf-overrides", takes_value=True),
    Removed(("--task",), "--runner and --convert", takes_value=True),
    Removed(("--device",), takes_value=True),
    Removed(("--calculate-kv-scales",)),
    Removed(("--num-lookahead-slots",), takes_value=True),
    Removed(("--disable-frontend-multiprocessing",)),
)  # fmt: skip
_REMOVED_ENV = {
    "VLLM_USE_V1": "the V1 engine is the only one",
    "VLLM_ATTENTION_BACKEND": "use --attention-backend",
    "VLLM_USE_TRITON_FLASH_ATTN": "use --attention-backend",
}

_DIALECT = arguments.Dialect("vllm", _SETTINGS, REMOVED, positional=("model",), underscores=True)
_DOTTED = re.compile(r"--?[A-Za-z][\w-]*\.[^=\s]+(?:=.*)?", re.DOTALL)
_MAX_DEPTH = 16


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `vllm serve ...` or of its API server module."""
    words = list(argv)
    if program == "vllm" and words[:1] != ["serve"] and origin == "command":
        said = f"vllm {(words[:1] or [''])[0][:40]} is not a server; `vllm serve` is"
        reading = Reading()
        reading.complain("not-a-server", said, program)
        return reading
    if program == "vllm" and origin == "command":
        words = words[1:]
    words = _optimisation_level(words)
    plain, dotted, broken = _split_dotted(words)
    reading = arguments.parse(_DIALECT, plain, origin)
    reading.problems += broken.problems
    _put_dotted(reading, dotted, origin)
    if "config" in reading.settings:
        file = reading.settings["config"].value
        said = f"more settings come from {file}, which is not read here"
        reading.complain("config-file", said, "--config")
    return reading


def _optimisation_level(words: Sequence[str]) -> list[str]:
    out: list[str] = []
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if re.fullmatch(r"-O=?\S+", word):
            out += ["--optimization-level", word[2:].removeprefix("=")]
        elif word == "-O" and following in ("0", "1", "2", "3"):
            out.append("--optimization-level")
        else:
            out.append(word)
    return out


Dotted = dict[str, dict[str, Value]]


def _split_dotted(words: Sequence[str]) -> tuple[list[str], Dotted, Reading]:
    """Words without the dotted flags, and the nested values that those build, by flag."""
    plain: list[str] = []
    nested: Dotted = {}
    broken = Reading()
    rest = list(words)[::-1]
    while rest:
        word = rest.pop()
        flag, equals, text = word.partition("=")
        if not _DOTTED.fullmatch(word) or "." not in flag:
            plain.append(word)
            continue
        if not equals:
            if not rest:
                broken.complain("value-missing", f"{flag} needs a value", flag)
                continue
            text = rest.pop()
        head, *path = flag.removesuffix("+").split(".")
        value = _dotted_value(text, appends=flag.endswith("+"))
        _merge(nested.setdefault(_DIALECT.normal(head), {}), path[:_MAX_DEPTH], value, flag, broken)
    return plain, nested, broken


def _dotted_value(text: str, *, appends: bool) -> Value:
    if appends:
        return list(text.split(","))
    try:
        value: Value = json.loads(text)
        return value
    except (ValueError, RecursionError):
        pass
    try:
        return pyvalues.human_size(text)
    except ValueError:
        return text


def _merge(
    into: dict[str, Value], path: Sequence[str], value: Value, flag: str, broken: Reading
) -> None:
    *parents, last = path
    for key in parents:
        below = into.get(key)
        if not isinstance(below, dict):
            below = {}
            into[key] = below
        into = below
    before = into.get(last)
    if isinstance(before, list) and isinstance(value, list):
        into[last] = [*before, *value]
        return
    if last in into:
        said = f"{flag} is given twice ({before}, then {value}); the last one wins"
        broken.complain("duplicate-flag", said, flag)
    into[last] = value


def _put_dotted(reading: Reading, dotted: Dotted, origin: Origin) -> None:
    """vLLM appends the built JSON to the arguments, so it replaces what `--x JSON` said."""
    for flag, value in dotted.items():
        hit = _DIALECT.spellings.get(flag)
        if hit is None or hit[0].kind != "json":
            near = did_you_mean(flag, _DIALECT.spellings)
            reading.complain("unknown-flag", f"{flag}.… is not a flag of vllm{near}", flag)
            continue
        setting = hit[0]
        if setting.name in reading.settings:
            said = f"{flag} as JSON and {flag}.… together: only the dotted values count"
            reading.complain("duplicate-flag", said, flag)
        raw = json.dumps(value, ensure_ascii=False)
        reading.settings[setting.name] = SettingUse(setting.name, value, origin, flag, raw)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables; a VLLM_ name that this version lacks is only warned about."""
    reading = arguments.parse_env(_SETTINGS, env)
    known = {setting.env for setting in _SETTINGS.values() if setting.env}
    for name in env:
        if name.startswith("VLLM_") and name not in known:
            note = _REMOVED_ENV.get(name)
            instead = f": {note}" if note else did_you_mean(name, known)
            said = f"{name} is ignored: this version has no such variable{instead}"
            reading.complain("env-ignored", said, name)
    return reading


KNOWLEDGE = EngineKnowledge(
    kind="vllm",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="vllm",
    removed=REMOVED,
    default_slots=None,
    config_files=("the YAML file given with --config",),
    version="0.32.0",
)
