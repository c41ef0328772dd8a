"""llama.cpp, build 11434: its settings, and its command line read as common/arg.cpp reads it.

Facts of the parser that others do not share: `--flag=value` is refused; `_` stands for `-` only
after `--`; one-dash names have several letters and never cluster; integers go through `stoi`, so
`-c 32k` is 32; a variable LLAMA_ARG_NO_X turns X off whatever its value and beats LLAMA_ARG_X.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import programs, table
from benchspec.knowledge.cvalues import pad, read_value
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading, Removed, Setting, Value
from benchspec.knowledge.reading import Collector, did_you_mean, removed_index

_SETTINGS = table.load("llamacpp")
_SPELLINGS = table.spellings(_SETTINGS)

_SERVERS = ("llama-server", "server")
DEFAULT_SLOTS = 4  # tools/server/server.cpp: a negative n_parallel becomes 4, with a unified cache

BUILD = "b11434"  # what the table describes

# Where a build is named: b8895 ran with --draft-max and --spec-ngram-size-n (ggml-org/llama.cpp#21404),
# b10114 took --no-mmap with a warning (#26110), b10884 refuses it (tscibilia/home-ops#3804).
_OLD_NAME = "understood here as the older builds did"
_DRAFT_SEEN = "b8895"
_LOADING_GONE = "b10884"
REMOVED = (
    Removed(
        ("--draft", "--draft-n", "--draft-max"),
        "--spec-draft-n-max (or --spec-ngram-mod-n-max)",
        takes_value=True,
        means=("spec-draft-n-max", None),
        note=_OLD_NAME,
        seen_in=_DRAFT_SEEN,
    ),
    Removed(
        ("--draft-min", "--draft-n-min"),
        "--spec-draft-n-min (or --spec-ngram-mod-n-min)",
        takes_value=True,
        means=("spec-draft-n-min", None),
        note=_OLD_NAME,
        seen_in=_DRAFT_SEEN,
    ),
    Removed(
        ("--spec-ngram-size-n",), "--spec-ngram-TYPE-size-n", takes_value=True, seen_in=_DRAFT_SEEN
    ),
    Removed(
        ("--spec-ngram-size-m",), "--spec-ngram-TYPE-size-m", takes_value=True, seen_in=_DRAFT_SEEN
    ),
    Removed(
        ("--spec-ngram-min-hits",),
        "--spec-ngram-TYPE-min-hits",
        takes_value=True,
        seen_in=_DRAFT_SEEN,
    ),
    Removed(("--mmap",), "--load-mode mmap", means=("load-mode", "mmap"), gone_in=_LOADING_GONE),
    Removed(("--no-mmap",), "--load-mode none", means=("load-mode", "none"), gone_in=_LOADING_GONE),
    Removed(("--mlock",), "--load-mode mlock", means=("load-mode", "mlock"), gone_in=_LOADING_GONE),
    Removed(
        ("--direct-io", "-dio"),
        "--load-mode dio",
        means=("load-mode", "dio"),
        gone_in=_LOADING_GONE,
    ),
    Removed(
        ("--no-direct-io", "-ndio"),
        "--load-mode auto",
        means=("load-mode", "auto"),
        gone_in=_LOADING_GONE,
    ),
    Removed(
        ("-cd", "--ctx-size-draft"),
        takes_value=True,
        note="the draft context is always the target's",
    ),
    Removed(("--spec-replace",), note="takes two values, both ignored"),
    Removed(("--checkpoint-every-n-tokens", "-cpent"), "--checkpoint-min-step", takes_value=True),
    Removed(("--no-clear-idle",), "--no-cache-idle-slots", means=("cache-idle-slots", "false")),
    Removed(("--clear-idle",), "--cache-idle-slots", means=("cache-idle-slots", "true")),
    Removed(("--models-allow-extra-args",)),
    Removed(("-gan", "--grp-attn-n"), takes_value=True, note="not in llama-server"),
    Removed(("-gaw", "--grp-attn-w"), takes_value=True, note="not in llama-server"),
    Removed(("--prompt-cache",), takes_value=True, note="not in llama-server"),
    Removed(("-mmq", "--mul-mat-q", "-nommq", "--no-mul-mat-q"), note="a build option now"),
    Removed(("--memory-f32", "--memory_f32"), "--cache-type-k f32"),
    Removed(("-gqa", "--gqa"), takes_value=True, note="read from the model"),
    Removed(("-eps", "--rms-norm-eps"), takes_value=True, note="read from the model"),
    Removed(("--low-vram",), "--no-kv-offload", means=("kv-offload", "false")),
    Removed(("-spf", "--system-prompt-file"), takes_value=True, note="send it with the request"),
    Removed(("--log-format",), takes_value=True),
    Removed(("--slots-endpoint-disable",), "--no-slots", means=("slots", "false")),
    Removed(("-dkvc", "--dump-kv-cache"), note="a debugging aid"),
)

# Bare flags of older builds that want a word now; b6327 has the new form (mybigday/llama.node#102).
WORDS_SINCE = {"-fa": "b6327", "--flash-attn": "b6327"}

# Flags of the fork ik_llama.cpp, whose command lines look like this program's, and how many words
# follow each (its README and issues).
FORK = "ik_llama.cpp"
FORK_FLAGS = {
    "-fmoe": 0, "--fused-moe": 0, "-no-fmoe": 0, "-rtr": 0, "--run-time-repack": 0, "-ger": 0,
    "-muge": 0, "-mqkv": 0, "-khad": 0, "-smgs": 0, "-gr": 0, "-no-gr": 0, "-amb": 1,
    "--attention-max-batch": 1, "-mla": 1, "--mla-use": 1, "-ser": 1, "--smart-expert-reduction": 1,
    "-cuda": 1, "--offload-policy": 1, "-op": 1,
}  # fmt: skip
# Cache types of forks, which this program refuses.
_FORK_CACHE_TYPES = ("q6_0", "q8_KV", "turbo2", "turbo3", "turbo4")
_REMOVED = removed_index(REMOVED)
_STOPPING_ENV = {
    "LLAMA_ARG_DRAFT_MAX": "LLAMA_ARG_SPEC_DRAFT_N_MAX",
    "LLAMA_ARG_DRAFT_MIN": "LLAMA_ARG_SPEC_DRAFT_N_MIN",
}
_DEAD_ENV = {
    "LLAMA_ARG_MMAP": "LLAMA_ARG_LOAD_MODE",
    "LLAMA_ARG_NO_MMAP": "LLAMA_ARG_LOAD_MODE=none",
    "LLAMA_ARG_MLOCK": "LLAMA_ARG_LOAD_MODE=mlock",
    "LLAMA_ARG_DIO": "LLAMA_ARG_LOAD_MODE=dio",
    "LLAMA_ARG_WEBUI": "LLAMA_ARG_UI",
    "LLAMA_ARG_MODEL_DRAFT": "LLAMA_ARG_SPEC_DRAFT_MODEL",
    "LLAMA_ARG_HFD_REPO": "LLAMA_ARG_SPEC_DRAFT_HF_REPO",
    "LLAMA_ARG_API_KEY": "LLAMA_API_KEY",
}

# Bare flags that set many things at once, in place: what stands after them still wins.
_FIM: dict[str, Value] = {
    "port": 8012,
    "ubatch-size": 1024,
    "batch-size": 1024,
    "ctx-size": 0,
    "cache-reuse": 256,
}
_GPT_OSS: dict[str, Value] = {
    "port": 8013,
    "ubatch-size": 2048,
    "batch-size": 32768,
    "parallel": 2,
    "ctx-size": 262144,
    "temp": 1.0,
    "top-p": 1.0,
    "top-k": 0,
    "min-p": 0.01,
    "jinja": True,
}
_CODER = "ggml-org/Qwen2.5-Coder-{}-Q8_0-GGUF"
_DRAFT: dict[str, Value] = {"spec-draft-hf": _CODER.format("0.5B")}
PRESETS: dict[str, dict[str, Value]] = {
    "embd-gemma-default": {
        "hf-repo": "ggml-org/embeddinggemma-300M-qat-q4_0-GGUF",
        "port": 8011,
        "ubatch-size": 2048,
        "batch-size": 2048,
        "parallel": 32,
        "ctx-size": 65536,
        "embedding": True,
    },
    "fim-qwen-1.5b-default": {"hf-repo": _CODER.format("1.5B"), **_FIM},
    "fim-qwen-3b-default": {"hf-repo": _CODER.format("3B"), **_FIM},
    "fim-qwen-7b-default": {"hf-repo": _CODER.format("7B"), **_FIM},
    "fim-qwen-7b-spec": {"hf-repo": _CODER.format("7B"), **_DRAFT, **_FIM},
    "fim-qwen-14b-spec": {"hf-repo": _CODER.format("14B"), **_DRAFT, **_FIM},
    "fim-qwen-30b-default": {
        "hf-repo": "ggml-org/Qwen3-Coder-30B-A3B-Instruct-Q8_0-GGUF",
        **_FIM,
    },
    "gpt-oss-20b-default": {"hf-repo": "ggml-org/gpt-oss-20b-GGUF", **_GPT_OSS},
    "gpt-oss-120b-default": {"hf-repo": "ggml-org/gpt-oss-120b-GGUF", **_GPT_OSS},
    "vision-gemma-4b-default": {
        "hf-repo": "ggml-org/gemma-3-4b-it-qat-GGUF",
        "port": 8014,
        "ctx-size": 0,
        "jinja": True,
    },
    "vision-gemma-12b-default": {
        "hf-repo": "ggml-org/gemma-3-12b-it-qat-GGUF",
        "port": 8014,
        "ctx-size": 0,
        "jinja": True,
    },
    "spec-default": {
        "spec-type": "ngram-mod",
        "spec-ngram-mod-n-match": 24,
        "spec-ngram-mod-n-min": 48,
        "spec-ngram-mod-n-max": 64,
    },
}


def slot_context(
    ctx_size: int,
    parallel: int,
    unified: bool,
    n_ctx_train: int | None,
    fit: bool = True,
    *,
    per_slot: int = 0,
) -> int | None:
    """Tokens that one slot may hold, as the server computes it when the memory suffices.

    `ctx_size` 0 or less means unset; `parallel` below 1 means auto (4 slots, unified); `per_slot`
    is --kv-unified-per-slot, 0 unset; None where it hangs on a training length that is not given.
    From src/llama-context.cpp, tools/server/server-context.cpp and common/fit.cpp: the total is
    padded up to 256; without a unified cache each slot gets its share, padded up again, so the sum
    can exceed what was asked; no slot exceeds the training length. With the size unset and no
    unified cache, fit gives every slot the full training length, and without fit one training
    length is divided among them. fit may shrink an unset context further.
    """
    if parallel < 1:
        parallel, unified = DEFAULT_SLOTS, True
    if ctx_size > 0:
        total = ctx_size
    elif per_slot > 0:
        total = parallel * per_slot
    elif n_ctx_train is None:
        return None
    else:
        total = n_ctx_train * (parallel if fit and not unified else 1)
    share = pad(total) if unified else pad(pad(total) // parallel)
    return min([share, *(cap for cap in (n_ctx_train, per_slot) if cap)])


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of an argument list of llama-server, llama-cli or another program of the family."""
    if program == "llama-bench":
        from benchspec.knowledge import llamacpp_bench

        return llamacpp_bench.parse_args(argv, origin)
    spellings = dict(_SPELLINGS)
    is_tool = programs.PROGRAMS.get(program) == "llama.cpp" and program not in _SERVERS
    if is_tool:
        spellings |= table.spellings(table.load("llamacpp-tools"))
    parser = _Parser(spellings, origin)
    if is_tool:
        said = f"{program} is no server: requests cannot be sent to it"
        parser.out.reading.complain("not-a-server", said, program)
    parser.run(argv)
    reading = parser.out.reading
    if "models-preset" in reading.settings:
        use = reading.settings["models-preset"]
        said = f"more settings come from {use.value}, which is not read here"
        reading.complain("config-file", said, use.spelled)
    if "defrag-thold" in reading.settings:
        reading.complain(
            "deprecated-flag", "--defrag-thold has no effect any more", "--defrag-thold"
        )
    return reading


def parse_text(text: str) -> Reading | None:
    """The settings of a preset or config.ini for one model: those of all models, then its own.

    None for a text that is no INI file; with several models only what is said for all of them.
    """
    from benchspec.knowledge import llamacpp_preset

    sections = llamacpp_preset.parse_preset(text, _SETTINGS, _REMOVED)
    if sections is None:
        return None
    shared = sections.pop(llamacpp_preset.EVERY_MODEL, Reading())
    own = next(iter(sections.values())) if len(sections) == 1 else Reading()
    return Reading({**shared.settings, **own.settings}, [*shared.problems, *own.problems])


class _Parser:
    """One pass over the words, as common_params_parse_ex makes it, but going on after an error."""

    def __init__(self, spellings: table.Spellings, origin: Origin) -> None:
        self.spellings = spellings
        self.out = Collector(origin)
        self.words: list[str] = []

    def run(self, argv: Sequence[str]) -> None:
        self.words = list(argv)[::-1]
        while self.words:
            word = self.words.pop()
            flag = word.replace("_", "-") if word.startswith("--") else word
            hit = self.spellings.get(flag)
            if hit is None:
                self._unknown(word, flag)
            else:
                self._known(*hit, flag)

    def _known(self, setting: Setting, positive: bool, flag: str) -> None:
        if setting.kind == "exit":
            self.out.reading.complain("exits", f"{flag} prints and exits: no server starts", flag)
        elif setting.kind == "preset":
            self._preset(setting, flag)
        elif not setting.takes_value:
            self.out.put(setting, positive, flag, None)
        else:
            self._value(setting, flag)

    def _preset(self, setting: Setting, flag: str) -> None:
        sets = PRESETS[setting.name]
        self.out.put(setting, True, flag, None)
        for name, value in sets.items():
            self.out.put(_SETTINGS[name], value, flag, None)
        said = f"{flag} sets {', '.join(sets)} at once"
        self.out.reading.complain("preset-flag", said, flag)

    def _value(self, setting: Setting, flag: str) -> None:
        if not self.words:
            self._missing(setting, flag)
            return
        raw = self.words[-1]
        value, problem = read_value(setting, raw, flag)
        if value is None and self._is_flag(raw):
            self._missing(setting, flag)
            return
        self.words.pop()
        if problem and raw in _FORK_CACHE_TYPES:
            problem = problem[0], f"{problem[1]} ({raw} is a cache type of forks)"
        if setting.kind == "pair":
            raw = f"{raw} {self.words.pop()}" if self.words else raw
            value = raw
        if problem:
            self.out.reading.complain(*problem, flag)
        if value is not None:
            self.out.put(setting, value, flag, raw)

    def _is_flag(self, word: str) -> bool:
        flag = word.replace("_", "-") if word.startswith("--") else word
        return flag in self.spellings or flag in _REMOVED

    def _missing(self, setting: Setting, flag: str) -> None:
        wants = ", ".join(setting.choices) or f"a value ({setting.kind})"
        follows = f"; {self.words[-1]} would be taken for it" if self.words else ""
        said = f"{flag} needs a value: {wants}{follows}, and the server stops"
        if flag in WORDS_SINCE:
            said += f" (builds before {WORDS_SINCE[flag]} had it without one)"
        self.out.reading.complain("value-missing", said, flag)
        if setting.kind == "word":  # older builds had a bare flag
            self.out.put(setting, "on", flag, None)

    def _unknown(self, word: str, flag: str) -> None:
        entry = _REMOVED.get(flag)
        name, equals, _ = flag.partition("=")
        if entry is not None:
            self._removed(entry, flag)
        elif flag in FORK_FLAGS:
            said = f"{flag} is a flag of the fork {FORK}; llama.cpp itself has no such flag"
            self.out.reading.complain("unknown-flag", said, flag)
            del self.words[len(self.words) - min(FORK_FLAGS[flag], len(self.words)) :]
        elif not word.startswith("-"):
            said = f"{word[:80]!r} belongs to no flag; llama.cpp takes no positional arguments"
            self.out.reading.complain("stray-argument", said, word[:80])
        elif equals and (name in self.spellings or name in _REMOVED):
            value = word.partition("=")[2]
            said = f"llama.cpp does not accept {word[:80]}: write `{name} {value[:60]}`, without ="
            self.out.reading.complain("equals-form", said, name)
        else:
            near = did_you_mean(name, self.spellings)
            said = f"{word[:80]} is not a flag of this llama.cpp program as of {BUILD}{near}"
            self.out.reading.complain("unknown-flag", said, word[:80])
            if self.words and not self.words[-1].startswith("-"):
                self.words.pop()

    def _removed(self, entry: Removed, flag: str) -> None:
        self.out.removed(entry, flag, BUILD)
        raw = self.words.pop() if entry.takes_value and self.words else None
        if entry.means is None:
            return
        name, constant = entry.means
        setting = _SETTINGS[name]
        text = constant if constant is not None else raw
        if text is not None and (value := read_value(setting, text, flag)[0]) is not None:
            self.out.set(setting, value, flag, raw)


def parse_env(env: Mapping[str, str]) -> Reading:
    """The settings that variables state, before any flag overrides them.

    A bare-flag variable must be a true word, else the server ignores it without a line. A value it
    cannot read stops the server. LLAMA_ARG names it does not know are ignored without a line.
    """
    out = Collector("env")
    read: set[str] = set()
    for setting in _SETTINGS.values():
        if setting.env is None:
            continue
        negative = setting.env.replace("LLAMA_ARG_", "LLAMA_ARG_NO_") if setting.negatives else ""
        if negative in env:
            out.put(setting, False, negative, env[negative])
        elif setting.env in env:
            _env_value(out, setting, setting.env, env[setting.env])
        read |= {negative, setting.env}
    for name in env:
        if name.startswith("LLAMA_ARG_") and name not in read:
            _env_ignored(out, name, read)
    return out.reading


def _env_value(out: Collector, setting: Setting, name: str, raw: str) -> None:
    value, complaint = read_value(setting, raw, name)
    if setting.kind == "switch" and value is not True:
        said = f"{name}={raw[:60]} is ignored silently: only on, enabled, true or 1 switch it on"
        out.reading.complain("env-ignored", said, name)
        return
    if complaint:
        out.reading.complain(*complaint, name)
    if value is not None:
        out.put(setting, value, name, raw)


def _env_ignored(out: Collector, name: str, known: set[str]) -> None:
    if name in _STOPPING_ENV:
        said = f"{name} no longer exists and stops the server; set {_STOPPING_ENV[name]}"
        out.reading.complain("removed-flag", said, name)
        return
    instead = f"; set {_DEAD_ENV[name]}" if name in _DEAD_ENV else did_you_mean(name, known)
    said = f"{name} is ignored silently: {BUILD} has no such variable{instead}"
    out.reading.complain("env-ignored", said, name)


KNOWLEDGE = EngineKnowledge(
    kind="llama.cpp",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="llama-server",
    removed=REMOVED,
    default_slots=DEFAULT_SLOTS,
    config_files=("/etc/llama.cpp/config.ini", "$XDG_CONFIG_HOME/llama.cpp/config.ini"),
    version=BUILD,
    words_since=WORDS_SINCE,
    parse_text=parse_text,
)
