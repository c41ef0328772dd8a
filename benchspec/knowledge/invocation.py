"""Finds an engine's program in a command line: past pipes, assignments, wrappers and containers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchspec.knowledge import programs, shell
from benchspec.knowledge.model import Invocation, Problem

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_POWERSHELL = re.compile(r"\$env:(\w+)(?:=(.*))?", re.DOTALL | re.IGNORECASE)
_PROMPT = re.compile(r"[$%❯]|\S+@\S+[$#%]")
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class _Found:
    engine: str
    executable: str
    argv: tuple[str, ...]
    env: dict[str, str]


def find(command: str, kind: str | None = None) -> Invocation:
    """The invocation of an engine in a command line; of several the first server of `kind`, or of
    any kind: `ollama pull x; ollama serve` is about the second.

    With a `kind` and no known program, the last simple command is taken for that engine's. Without
    either, `engine` is None. Never raises; what is odd is in `problems`.
    """
    commands, problems = shell.split(command)
    exported: dict[str, str] = {}
    found = [hit for hit in _search(commands, exported, 0) if hit]
    fitting = [each for each in found if kind in (None, each.engine)]
    servers = [each for each in fitting if programs.serves(each.engine, each.executable, each.argv)]
    hit = next(iter(servers or fitting), None)
    if hit is None and found:
        hit = found[0]
        if kind is not None:
            problems.append(_other_engine(hit, kind))
    if hit is None:
        return _unrecognised(commands, kind, exported, problems)
    return Invocation(hit.engine, hit.executable, hit.argv, hit.env, tuple(problems))


def _other_engine(hit: _Found, kind: str) -> Problem:
    said = (
        f"the command line starts {hit.executable}, which is {hit.engine}, but the engine is {kind}"
    )
    return Problem("other-engine", said, hit.executable)


def _unrecognised(
    commands: list[list[str]], kind: str | None, env: dict[str, str], problems: list[Problem]
) -> Invocation:
    """Variables alone, flags alone, or a program under another name, for the kind that is given."""
    words: list[str] = []
    for each in commands:
        words = _take_assignments(each, env) if not _exports(each, env) else []
    if words and programs.PYTHON.fullmatch(programs.base_name(words[0])):
        words = [word for word in words[1:] if word != "-m"] or words
    bare = bool(words) and words[0].startswith("-")
    executable = "" if bare or not words else words[0]
    argv = words if bare else words[1:]
    if executable and programs.SCRIPTS.get(programs.base_name(executable)) != kind:
        said = f"{executable[:80]} is not a program of an engine that is known here"
        problems.append(Problem("unknown-executable", said, executable[:80]))
    return Invocation(kind, executable, tuple(argv), env, tuple(problems))


def _search(commands: list[list[str]], exported: dict[str, str], depth: int) -> list[_Found | None]:
    hits: list[_Found | None] = []
    for pasted in commands:
        words = _past_prompt(pasted)
        if not words or _exports(words, exported):
            continue
        hits.append(_peel(words, dict(exported), depth))
    return hits


def _past_prompt(words: list[str]) -> list[str]:
    """Without the prompt of a shell that was copied along: `$`, `me@box:~$`, `[me@box dir]$`."""
    if _PROMPT.fullmatch(words[0]):
        return words[1:]
    bracket = words[0].startswith("[") and words[1:] and words[1][-2:] in ("]$", "]#")
    return words[2:] if bracket else words


def _exports(words: Sequence[str], exported: dict[str, str]) -> bool:
    """`export X=1`, `$env:X = "1"`, systemd's `Environment=X=1` and the like set it for what follows."""
    unit = words[0].startswith("Environment=")
    if unit or words[0] in ("export", "set", "declare"):
        stated = [words[0].removeprefix("Environment="), *words[1:]]
        pairs = (_ASSIGNMENT.fullmatch(word) for word in stated)
        exported.update((pair[1], pair[2]) for pair in pairs if pair)
        return True
    if len(words) > 2 and (words[0] == "setx" or words[:2] == ["launchctl", "setenv"]):
        exported[words[-2]] = words[-1]
        return True
    power = _POWERSHELL.fullmatch(words[0])
    if power:
        exported[power[1]] = power[2] if power[2] is not None else (words[2:3] or [""])[0]
    return bool(power)


def _take_assignments(words: Sequence[str], env: dict[str, str]) -> list[str]:
    rest = list(words)
    while rest and (pair := _ASSIGNMENT.fullmatch(rest[0])):
        rest.pop(0)
        if pair[1] == "ExecStart":  # a systemd unit
            return [pair[2], *rest]
        env[pair[1]] = pair[2]
    return rest


def _peel(words: Sequence[str], env: dict[str, str], depth: int) -> _Found | None:
    """The engine started by one simple command, whatever stands before it."""
    words = _take_assignments(words, env)
    if not words or depth > _MAX_DEPTH:
        return None
    head = programs.base_name(words[0])
    engine = programs.engine_of(head)
    if engine is not None:
        return _Found(engine, head, tuple(words[1:]), env)
    if head in programs.CONTAINERS:
        return _container(words[1:], env, depth)
    if head in programs.SHELLS:
        return _shell_string(words[1:], env, depth)
    if programs.PYTHON.fullmatch(head):
        return _python(words[1:], env)
    if head in programs.WRAPPERS:
        return _wrapped(words[1:], env, depth)
    return None


def _wrapped(words: Sequence[str], env: dict[str, str], depth: int) -> _Found | None:
    """Skips a wrapper's own options to the first word that leads to an engine."""
    for index, word in enumerate(words):
        if hit := _within(word, env, depth):
            return hit
        if pair := _ASSIGNMENT.fullmatch(word):
            env[pair[1]] = pair[2]
        elif (
            word.startswith("-")
            or word in programs.WRAPPERS
            or (index and words[index - 1] in programs.WRAPPER_VALUES)
        ):
            continue
        elif hit := _peel(words[index:], env, depth + 1):
            return hit
    return None


def _within(word: str, env: dict[str, str], depth: int) -> _Found | None:
    """A word that is a command line of its own: `ssh host '...'`, `tmux new -d '...'`."""
    if " " not in word.strip() or depth >= _MAX_DEPTH:
        return None
    commands, _ = shell.split(word)
    return next((hit for hit in _search(commands, dict(env), depth + 1) if hit), None)


def _shell_string(words: Sequence[str], env: dict[str, str], depth: int) -> _Found | None:
    """`bash -c '...'`: the string is a command line of its own."""
    for index, word in enumerate(words[:-1]):
        if re.fullmatch(r"-[a-z]*c", word):
            commands, _ = shell.split(words[index + 1])
            return next((hit for hit in _search(commands, dict(env), depth + 1) if hit), None)
    return None


def _python(words: Sequence[str], env: dict[str, str]) -> _Found | None:
    """`python -m MODULE ...` and `python path/to/script.py ...`."""
    for index, word in enumerate(words):
        if word == "-m" and index + 1 < len(words):
            module = words[index + 1]
            engine = programs.MODULES.get(module) or programs.PROGRAMS.get(module)
            return _Found(engine, module, tuple(words[index + 2 :]), env) if engine else None
        if not word.startswith("-"):
            module = programs.script_module(word)
            engine = programs.MODULES.get(module)
            return _Found(engine, module, tuple(words[index + 1 :]), env) if engine else None
    return None


def _container(words: Sequence[str], env: dict[str, str], depth: int) -> _Found | None:
    """`docker run OPTIONS IMAGE ARGS`, `docker exec OPTIONS CONTAINER COMMAND` and their likes."""
    rest = list(words)
    while rest and rest[0] in ("compose", "container"):
        rest.pop(0)
    if not rest or rest.pop(0) not in ("run", "exec", "create"):
        return None
    entrypoint = None
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            if word.strip(".…"):
                return _image(word, entrypoint, rest, env, depth)
            continue
        option, _, attached = word.partition("=")
        if word[:2] == "-e" and len(word) > 2:
            option, attached = "-e", word[2:].removeprefix("=")
        value = attached
        if not attached and rest and not programs.DOCKER_SWITCH.fullmatch(option):
            value = rest.pop(0)
        if option in ("-e", "--env") and (pair := _ASSIGNMENT.fullmatch(value)):
            env[pair[1]] = pair[2]
        elif option == "--entrypoint":
            entrypoint = value
    return None


def _image(
    image: str, entrypoint: str | None, args: list[str], env: dict[str, str], depth: int
) -> _Found | None:
    if entrypoint:
        return _peel([entrypoint, *args], env, depth + 1)
    if args and not args[0].startswith("-") and (hit := _peel(args, dict(env), depth + 1)):
        return hit
    entry = programs.image_entry(image, args)
    if entry is None:
        return None
    program, before, rest = entry
    return _Found(programs.PROGRAMS[program], program, (*before, *rest), env)
