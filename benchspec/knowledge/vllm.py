"""vLLM 0.32.0: its settings, and its command line read as its FlexibleArgumentParser reads it.

Beyond argparse: `_` is `-` up to the first dot; `--x.a.b v` builds the JSON of `--x`, `--x.a+ v`
appends to a list in it; `-O3`, `-O 3`, `-O=3` are the optimisation level; `--model` may stand for
the positional model. Sizes take k (1000) and K (1024).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, dotted, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading, Removed, SettingUse
from benchspec.knowledge.reading import TRUE_WORDS, did_you_mean, unknown_yet

_SETTINGS = table.load("vllm")

VERSION = "0.32.0"  # what the table describes

# `seen_in`: the version in the argument dump of vllm-project/vllm#11760, #15105 and #19448.
REMOVED = (
    Removed(("--disable-log-requests",),
        gone_in="0.12.0", note="off is the default; --enable-log-requests turns it on"),
    Removed(("--swap-space",), takes_value=True, gone_in="0.18.0"),
    Removed(("--num-scheduler-steps",), takes_value=True),
    Removed(("--use-v2-block-manager",)),
    Removed(("--preemption-mode",), takes_value=True),
    Removed(("--scheduler-delay-factor",), takes_value=True),
    Removed(("--max-seq-len-to-capture",), "--max-cudagraph-capture-size", takes_value=True),
    Removed(("--cuda-graph-sizes",), "--cudagraph-capture-sizes", takes_value=True, many=True),
    Removed(("--enable-reasoning",), "--reasoning-parser", seen_in="0.9.0.1"),
    Removed(("--max-num-partial-prefills",), takes_value=True),
    Removed(("--max-long-partial-prefills",), takes_value=True),
    Removed(("--guided-decoding-backend",), "--structured-outputs-config.backend", takes_value=True,
        seen_in="0.8.1"),
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
    Removed(("--task",), "--runner and --convert", takes_value=True, seen_in="0.6.4"),
    Removed(("--device",), takes_value=True),
    Removed(("--calculate-kv-scales",)),
    Removed(("--num-lookahead-slots",), takes_value=True),
    Removed(("--disable-frontend-multiprocessing",)),
)  # fmt: skip
_REMOVED_ENV = {
    "VLLM_USE_V1": "the V1 engine is the only one",
    "VLLM_ALL2ALL_BACKEND": "use --all2all-backend",
    "VLLM_ATTENTION_BACKEND": "use --attention-backend",
    "VLLM_USE_TRITON_FLASH_ATTN": "use --attention-backend",
}
# Variables that are on for these words alone, capitals aside; any other word is off (vllm/envs.py).
_ON = {
    "VLLM_USE_MODELSCOPE": ("true",),
    "VLLM_ALLOW_LONG_MAX_MODEL_LEN": ("1", "true"),
    "VLLM_ROCM_USE_AITER": ("1", "true"),
    "VLLM_SKIP_P2P_CHECK": ("1",),
    "VLLM_NO_USAGE_STATS": ("1",),
    "VLLM_DO_NOT_TRACK": ("1",),
}

_DIALECT = arguments.Dialect(
    "vllm",
    _SETTINGS,
    REMOVED,
    positional=("model",),
    underscores=True,
    config_flag="config",
    version=VERSION,
    deprecated={
        "disable-cascade-attn": "it has no effect and goes away in 0.33",
        "log-config-file": "it goes away in 0.33; write --logging-config",
    },
)


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
    plain, nested, broken = dotted.split(words, _DIALECT)
    reading = arguments.parse(_DIALECT, plain, origin)
    reading.problems += broken.problems
    dotted.put(reading, nested, _DIALECT, origin)
    if program == "vllm" and any(use.spelled == "--model" for use in reading.settings.values()):
        said = "--model is going away: give the model as the first argument of `vllm serve`"
        reading.complain("deprecated-flag", said, "--model")
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


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables; a VLLM_ name that this version lacks is only warned about."""
    plain = {name: value for name, value in env.items() if name not in _ON}
    reading = arguments.parse_env(_SETTINGS, plain)
    for name, value in env.items():
        if name in _ON:
            _switch(reading, name, value)
    known = {setting.env for setting in _SETTINGS.values() if setting.env}
    ours = [name for name in known if name.startswith("VLLM_")]
    for name in env:
        if name.startswith("VLLM_") and name not in known:
            note = _REMOVED_ENV.get(name)
            instead = f"; {note}" if note else did_you_mean(name, ours)
            said = f"{name} is ignored: vLLM {VERSION} has no such variable{instead}"
            reading.complain("env-ignored", said, name)
    return reading


def _switch(reading: Reading, name: str, raw: str) -> None:
    """A variable of _ON; one that is meant to be on and is not has no effect."""
    word = raw.strip().lower()
    value = raw if unknown_yet(raw) else word in _ON[name]
    reading.settings[name] = SettingUse(name, value, "env", name, raw)
    if word in TRUE_WORDS and word not in _ON[name]:
        said = f"{name}={raw[:40]} has no effect: vLLM takes only {' or '.join(_ON[name])} for on"
        reading.complain("env-ignored", said, name)


KNOWLEDGE = EngineKnowledge(
    kind="vllm",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="vllm",
    removed=REMOVED,
    default_slots=None,
    config_files=("the YAML file given with --config",),
    version=VERSION,
)
