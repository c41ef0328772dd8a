"""The engines, by kind, and what is asked of any of them: names, command lines, effective settings.

An engine's module and tables are loaded when that engine is first asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import cast

from benchspec.errors import UsageError
from benchspec.knowledge.model import (
    MAX_COMMAND_CHARS,
    EngineKnowledge,
    Invocation,
    ParsedCommand,
    Problem,
    ProblemKind,
    Reading,
    Setting,
    SettingUse,
)
from benchspec.knowledge.reading import DASHES, straightened

_MODULES = {
    "llama.cpp": "llamacpp",
    "vllm": "vllm",
    "sglang": "sglang",
    "ollama": "ollama",
    "mlx-lm": "mlx_lm",
    "lm-studio": "lm_studio",
    "tabbyapi": "tabbyapi",
    "tgi": "tgi",
    "tensorrt-llm": "tensorrt_llm",
    "lmdeploy": "lmdeploy",
    "koboldcpp": "koboldcpp",
    "llama-swap": "llama_swap",
    "openai": "without_settings",
    "command": "without_settings",
}


MAX_PROBLEMS = 100
_OF_CLIENTS_TOO = {"server", "logging", "none"}  # an address, for one


class FlagError(UsageError):
    """A flag of a spec cannot be written on the engine's command line; `kind` as in Problem."""

    def __init__(self, kind: ProblemKind, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


def kinds() -> tuple[str, ...]:
    """Every engine kind, in the order of the table."""
    return tuple(_MODULES)


@cache
def engine(kind: str) -> EngineKnowledge | None:
    """What is known of an engine kind, or None for a kind that is not in the table."""
    module = _MODULES.get(kind)
    if module is None:
        return None
    found = import_module(f"benchspec.knowledge.{module}")
    if module == "without_settings":
        return cast(EngineKnowledge, found.knowledge(kind))
    return cast(EngineKnowledge, found.KNOWLEDGE)


def flag_names() -> frozenset[str]:
    """Every name and alias of every flag of every engine, without dashes."""
    known = (engine(kind) for kind in kinds())
    return frozenset(
        flag.lstrip("-")
        for knowledge in known
        if knowledge is not None
        for setting in knowledge.settings.values()
        for flag in (setting.name, *setting.flags, *setting.negatives)
    )


def canonical(kind: str, flag: str) -> str:
    """The one name of a setting: `np` -> `parallel`, `n_gpu_layers` -> `n-gpu-layers`.

    A negative spelling gets its preferred negative name (`nkvo` -> `no-kv-offload`), because its
    value means the opposite. An unknown flag comes back without its dashes.
    """
    known = engine(kind)
    setting = known.find(flag) if known else None
    bare = flag.lstrip("-")
    if setting is None:
        return bare
    if _is_negative(setting, bare):
        return setting.negatives[0].lstrip("-")
    return setting.name


def _is_negative(setting: Setting, bare: str) -> bool:
    negatives = {flag.lstrip("-") for flag in setting.negatives}
    return bare in negatives or bare.replace("_", "-") in negatives


def parse_command(kind: str | None, command: str) -> ParsedCommand:
    """A pasted command line, understood; the engine is guessed from the program if `kind` is None.

    Settings include those of `VAR=x` before the program and of `docker run -e`. Never raises.
    """
    from benchspec.knowledge import invocation  # only specs with a pasted command need it

    kind = kind or _kind_of_file(command)
    own_file = _read_file(kind, command)
    if own_file is not None:
        return ParsedCommand(kind, "", (), {}, own_file.settings, own_file.problems)
    found = _straight(invocation.find(command, kind))
    known = engine(found.engine) if found.engine else None
    reading = Reading()
    if known is not None:
        from_args = known.parse_args(found.executable, found.argv, "command")
        reading = _over(_variables(known, found, found.env), from_args)
    problems = _bounded([*found.problems, *reading.problems])
    return ParsedCommand(
        found.engine, found.executable, found.argv, found.env, reading.settings, problems
    )


def _kind_of_file(text: str) -> str | None:
    """The engine whose own kind of file this is, where the text itself shows it."""
    from benchspec.knowledge import programs

    for kind, opening in programs.OWN_FILES.items():
        if len(text) <= MAX_COMMAND_CHARS and opening.search(text):
            reading = _read_file(kind, text)
            if reading and len(reading.settings) > len(reading.problems):
                return kind
    return None


def _straight(found: Invocation) -> Invocation:
    """The same with its flags as they are typed, where a web page has made dashes of hyphens."""
    known = engine(found.engine) if found.engine else None
    printed = [word for word in found.argv if word[:1] in DASHES]
    if known is None or not printed:
        return found
    flags = [flag for each in known.settings.values() for flag in (*each.flags, *each.negatives)]
    argv = tuple(straightened(word, flags) for word in found.argv)
    said = (
        f"{printed[0][:60]} and the like are read with plain hyphens; no engine takes such a dash"
    )
    return replace(found, argv=argv, problems=(*found.problems, Problem("typographic", said)))


def _read_file(kind: str | None, text: str) -> Reading | None:
    """The engine's own kind of file in place of a command line: a Modelfile, a preset."""
    known = engine(kind) if kind else None
    if known is None or known.parse_text is None or len(text) > MAX_COMMAND_CHARS:
        return None
    return known.parse_text(text)


def resolve(
    kind: str,
    *,
    flags: Mapping[str, object],
    command: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Reading:
    """What an engine is told, all sources together, with every problem of each.

    Low to high: variables of `env`, variables in the command line, its arguments, `flags`.
    """
    known = engine(kind)
    if known is None:
        return Reading()
    reading = _read_command(known, command, env or {}) if command else known.parse_env(env or {})
    reading = _over(reading, _read_flags(known, flags))
    return Reading(reading.settings, _bounded(reading.problems))


def _bounded(problems: list[Problem]) -> list[Problem]:
    """At most MAX_PROBLEMS: a text with more of them is no command line."""
    if len(problems) <= MAX_PROBLEMS:
        return problems
    said = f"and {len(problems) - MAX_PROBLEMS} more of the like"
    return [*problems[:MAX_PROBLEMS], Problem("too-long", said)]


def _read_command(known: EngineKnowledge, command: str, env: Mapping[str, str]) -> Reading:
    from benchspec.knowledge import invocation

    own_file = _read_file(known.kind, command)
    if own_file is not None:
        return _over(known.parse_env(env), own_file)
    found = _straight(invocation.find(command, known.kind))
    if found.engine != known.kind:
        return Reading(problems=list(found.problems))
    args = known.parse_args(found.executable, found.argv, "command")
    reading = _over(_variables(known, found, {**env, **found.env}), args)
    reading.problems[:0] = found.problems
    return reading


def _variables(known: EngineKnowledge, found: Invocation, env: Mapping[str, str]) -> Reading:
    """The settings of variables; before a client they reach no server that runs already."""
    reading = known.parse_env(env)
    if found.argv[:1] and found.argv[0] in known.clients:
        client = f"`{found.executable} {found.argv[0]}`"
        for name, use in reading.settings.items():
            telling = set(known.settings[name].affects) - _OF_CLIENTS_TOO
            if use.origin == "env" and found.env.get(use.spelled) and telling:
                said = f"{use.spelled} is read by the server, and {client} only asks one"
                reading.complain("env-ignored", said, use.spelled)
    return reading


def effective(
    kind: str, *, flags: Mapping[str, object], command: str | None, env: Mapping[str, str]
) -> dict[str, SettingUse]:
    """Each stated setting by canonical name, as the engine would read it; unset ones are absent."""
    return resolve(kind, flags=flags, command=command, env=env).settings


def _read_flags(known: EngineKnowledge, flags: Mapping[str, object]) -> Reading:
    """Flags are read as the argument list that they become."""
    argv: list[str] = []
    problems: list[Problem] = []
    stated: dict[str, SettingUse] = {}
    for name, value in flags.items():
        try:
            argv += _words(known, name, value)
        except FlagError as error:
            problems.append(Problem(error.kind, f"{error.message}; {error.hint}", name))
            setting = known.find(name)
            if error.kind == "not-a-flag" and setting is not None:
                stated[setting.name] = _stated(setting, name, value)
    reading = known.parse_args(known.program or "", argv, "flag")
    return Reading({**stated, **reading.settings}, [*problems, *reading.problems])


def _stated(setting: Setting, name: str, value: object) -> SettingUse:
    """A setting that no flag can set, as the spec states it."""
    raw = _text(value)
    kept = value if isinstance(value, bool | int | float | str) else raw
    return SettingUse(setting.name, kept, "flag", name, raw)


def _over(below: Reading, above: Reading) -> Reading:
    """Two readings as one, `above` winning; a variable that a flag overrides is a problem."""
    problems = [*below.problems, *above.problems]
    for name, use in above.settings.items():
        under = below.settings.get(name)
        if under is not None and under.origin == "env":
            said = f"{under.spelled}={under.raw} is overridden by {use.spelled} ({use.value})"
            problems.append(Problem("flag-and-env", said, use.spelled))
    return Reading({**below.settings, **above.settings}, problems)


def to_argv(kind: str, flags: Mapping[str, object]) -> list[str]:
    """Flags as that engine spells them on its command line.

    `true` is the bare flag, `false` its negative form, a list the flag repeated (or all values
    after one flag where the engine wants that), a map JSON, None nothing, anything else one value
    as written. Raises FlagError where the engine has no such spelling.
    """
    known = engine(kind)
    return [word for name, value in flags.items() for word in _words(known, name, value)]


def _words(known: EngineKnowledge | None, name: str, value: object) -> Sequence[str]:
    if value is None:
        return []
    bare = name.lstrip("-")
    setting = known.find(name) if known else None
    if isinstance(value, bool):
        return [_bare_flag(setting, bare, value)]
    flag = _spell(setting, bare)
    if setting is not None and not setting.takes_value:
        raise FlagError(
            "value-unexpected",
            f"`{bare}` takes no value, but {_text(value)[:60]!r} is given",
            hint=f"write `{bare}: true` or leave it out",
        )
    if isinstance(value, list):
        texts = [_text(item) for item in value]
        if setting is not None and setting.kind in ("list", "many"):
            return [flag, *texts]
        return [word for text in texts for word in (flag, text)]
    return [flag, _text(value)]


def _bare_flag(setting: Setting | None, bare: str, value: bool) -> str:
    if setting is None:
        if value:
            return _dashed(bare)
        raise FlagError(
            "not-negatable",
            f"`{bare}: false` has no spelling: it is not known whether `--no-{bare}` exists",
            hint=f"remove `{bare}`, or write the engine's own negative flag as `true`",
        )
    if not setting.flags:
        raise _no_flag(setting, bare)
    if setting.takes_value and not (setting.kind == "optional" and value):
        raise FlagError(
            "value-missing",
            f"`{bare}` needs a value: {', '.join(setting.choices) or setting.kind}",
            hint=f'write for example `{bare}: "{(setting.choices or ("1",))[0]}"`',
        )
    if value is not _is_negative(setting, bare):
        return _spell(setting, bare) if value else setting.flags[0]
    if value:
        return _dashed_as(setting.negatives, bare)
    if not setting.negatives:
        raise FlagError(
            "not-negatable",
            f"`{bare}: false` has no spelling: the engine has no negative form of it",
            hint=f"remove `{bare}`; unset means {setting.default or 'off'}",
        )
    return setting.negatives[0]


def _spell(setting: Setting | None, bare: str) -> str:
    if setting is None:
        return _dashed(bare)
    if not setting.flags:
        raise _no_flag(setting, bare)
    return _dashed_as(setting.flags, bare)


def _no_flag(setting: Setting, bare: str) -> FlagError:
    where = (
        f"set {setting.env} under `engine.env`" if setting.env else "set it where the engine does"
    )
    return FlagError("not-a-flag", f"`{bare}` is no command-line flag", hint=where)


def _dashed_as(spelled: Sequence[str], bare: str) -> str:
    """The engine's own spelling of a bare name; the preferred one where the name is canonical."""
    wanted = bare.replace("_", "-")
    return next((flag for flag in spelled if flag.lstrip("-") in (bare, wanted)), spelled[0])


def _dashed(bare: str) -> str:
    return f"-{bare}" if len(bare) == 1 else f"--{bare}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
