"""Finds an engine's program in a command line: past pipes, assignments, wrappers and containers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchspec.knowledge import pasted, programs, shell
from benchspec.knowledge.model import Invocation, Problem
from benchspec.knowledge.pasted import Started

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_POWERSHELL = re.compile(r"\$env:(\w+)(?:=(.*))?", re.DOTALL | re.IGNORECASE)
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSWORD", re.IGNORECASE)
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
    commands, problems = pasted.read(command)
    exported: dict[str, str] = {}
    found = [hit for hit in _search(commands, exported, 0, problems) if hit]
    fitting = [each for each in found if kind in (None, each.engine)]
    servers = [each for each in fitting if programs.serves(each.engine, each.executable, each.argv)]
    hit = next(iter(servers or fitting), None)
    if hit is None and found:
        hit = found[0]
        if kind is not None:
            problems.append(_other_engine(hit, kind))
    if hit is None:
        return _unrecognised(commands, kind, exported, problems)
    argv, elided = _without_gaps(hit.argv)
    problems = _about([hit.executable, *argv], hit.env, problems) + elided
    return Invocation(hit.engine, hit.executable, argv, hit.env, tuple(problems))


def _about(words: Iterable[str], env: dict[str, str], problems: list[Problem]) -> list[Problem]:
    """Each variable once, without those that the engine never sees, such as that of `docker run -v
    $HOME:/x`, and those that stand for a secret, where they belong."""
    public = [
        value
        for name, value in env.items()
        if programs.READ_BY_ENGINES.match(name) and not _SECRET.search(name)
    ]
    seen = "\n".join([*words, *public])
    others = [each for each in problems if each.kind != "not-expanded"]
    open_ = dict.fromkeys(each for each in problems if each.kind == "not-expanded")
    return [*others, *(each for each in open_ if (each.flag or "") in seen)]


def _without_gaps(argv: Sequence[str]) -> tuple[tuple[str, ...], list[Problem]]:
    """`llama-server [...] -np 4`: what an author left out is no argument, and is said."""
    gaps = [word for word in argv if programs.GAP.fullmatch(word)]
    if not gaps:
        return tuple(argv), []
    said = f"the line is abridged ({gaps[0]}): what stood there is not known"
    kept = tuple(word for word in argv if not programs.GAP.fullmatch(word))
    return kept, [Problem("abridged", said, gaps[0])]


def _other_engine(hit: _Found, kind: str) -> Problem:
    said = (
        f"the command line starts {hit.executable}, which is {hit.engine}, but the engine is {kind}"
    )
    return Problem("other-engine", said, hit.executable)


def _unrecognised(
    commands: list[Started], kind: str | None, env: dict[str, str], problems: list[Problem]
) -> Invocation:
    """Variables alone, flags alone, or a program under another name, for the kind that is given."""
    words: list[str] = []
    for each in commands:
        env.update(each.env)
        words = _take_assignments(each.words, env) if not _exports(each.words, env) else []
    if words and programs.PYTHON.fullmatch(programs.base_name(words[0])):
        words = [word for word in words[1:] if word != "-m"] or words
    bare = bool(words) and words[0].startswith("-")
    executable = "" if bare or not words else words[0]
    argv, elided = _without_gaps(words if bare else words[1:])
    problems = _about([executable, *argv], env, problems) + elided
    if kind is None and programs.TABBY_FLAGS.intersection(argv):
        kind = programs.SCRIPTS.get(programs.base_name(executable))
    if kind is None and not argv:
        kind = next(
            (
                engine
                for name in env
                for part, engine in programs.VARIABLES.items()
                if name.startswith(part)
            ),
            None,
        )
    if executable and programs.SCRIPTS.get(programs.base_name(executable)) != kind:
        said = f"{executable[:80]} is not a program of an engine that is known here"
        problems.append(Problem("unknown-executable", said, executable[:80]))
    return Invocation(kind, executable, argv, env, tuple(problems))


def _search(
    commands: list[Started], exported: dict[str, str], depth: int, problems: list[Problem]
) -> list[_Found | None]:
    hits: list[_Found | None] = []
    for each in commands:
        env = {**exported, **each.env}
        if each.image is not None:
            hits.append(_image(each.image, each.entrypoint, each.words, env, depth, problems))
        elif each.words and not _exports(each.words, exported):
            hits.append(_peel(each.words, env, depth, problems))
    return hits


def _exports(words: Sequence[str], exported: dict[str, str]) -> bool:
    """`export X=1`, `$env:X = "1"`, `setx X 1` and the like set it for what follows."""
    if not words:
        return False
    if words[0] in ("export", "set", "declare"):
        pairs = (_ASSIGNMENT.fullmatch(word) for word in words[1:])
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
        env[pair[1]] = pair[2]
    return rest


def _peel(
    words: Sequence[str], env: dict[str, str], depth: int, problems: list[Problem]
) -> _Found | None:
    """The engine started by one simple command, whatever stands before it."""
    words = _take_assignments(words, env)
    if not words or depth > _MAX_DEPTH:
        return None
    head = programs.base_name(words[0])
    engine = programs.engine_of(head)
    if engine is not None:
        return _Found(engine, head, tuple(words[1:]), env)
    if head == programs.ONE_FOR_ALL and words[1:2] and words[1] in programs.SUBCOMMANDS:
        return _Found("llama.cpp", programs.SUBCOMMANDS[words[1]], tuple(words[2:]), env)
    if head in programs.CONTAINERS:
        return _container(words[1:], env, depth, problems)
    if head in programs.CLUSTERS and words[1:2] == ["run"]:
        return _pod(words[2:], env, depth, problems)
    if head.lower() in programs.STARTERS:
        return _start_process(words[1:], env, depth, problems)
    if head in programs.SHELLS:
        return _shell_string(words[1:], env, depth, problems)
    if programs.PYTHON.fullmatch(head):
        return _python(words[1:], env)
    if head in programs.WRAPPERS:
        return _wrapped(words[1:], env, depth, problems)
    return None


def _wrapped(
    words: Sequence[str], env: dict[str, str], depth: int, problems: list[Problem]
) -> _Found | None:
    """Skips a wrapper's own options to the first word that leads to an engine.

    What follows an option that takes a name (`sudo -u llama-server`) is tried last.
    """
    doubtful: list[int] = []
    for index, word in enumerate(words):
        if hit := _within(word, env, depth, problems):
            return hit
        if word == "-m" and words[index + 1 : index + 2] and words[index + 1] in programs.MODULES:
            return _python(words[index:], env)
        if pair := _ASSIGNMENT.fullmatch(word):
            env[pair[1]] = pair[2]
        elif word.startswith("-") or word in programs.WRAPPERS:
            continue
        elif index and words[index - 1] in programs.WRAPPER_VALUES:
            doubtful.append(index)
        elif hit := _peel(words[index:], env, depth + 1, problems):
            return hit
    tried = (_peel(words[index:], env, depth + 1, problems) for index in doubtful[:3])
    return next((hit for hit in tried if hit), None)


def _within(word: str, env: dict[str, str], depth: int, problems: list[Problem]) -> _Found | None:
    """A word that is a command line of its own: `ssh host '...'`, `tmux new -d '...'`."""
    if " " not in word.strip() or depth >= _MAX_DEPTH:
        return None
    commands, found = shell.split(word)
    hits = _search([Started(each) for each in commands], dict(env), depth + 1, found)
    hit = next((hit for hit in hits if hit), None)
    if hit:
        problems += found
    return hit


def _shell_string(
    words: Sequence[str], env: dict[str, str], depth: int, problems: list[Problem]
) -> _Found | None:
    """`bash -c '...'`: the string is a command line of its own."""
    for index, word in enumerate(words[:-1]):
        if re.fullmatch(r"-[a-z]*c", word):
            return _within(f"{words[index + 1]} ;", env, depth, problems)
        if re.fullmatch(r"/[ck]|-Command", word, re.IGNORECASE):
            inner = words[index + 1]
            within = _within(inner, env, depth, problems)
            return within or _peel(words[index + 1 :], env, depth + 1, problems)
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


def _container(
    words: Sequence[str], env: dict[str, str], depth: int, problems: list[Problem]
) -> _Found | None:
    """`docker run OPTIONS IMAGE ARGS`, `docker exec OPTIONS CONTAINER COMMAND` and their likes."""
    rest = list(words)
    while rest and (rest[0] in ("compose", "container") or rest[0].startswith("-")):
        option = rest.pop(0)
        if option in programs.COMPOSE_VALUES and rest:
            rest.pop(0)
    if not rest or rest.pop(0) not in ("run", "exec", "create"):
        return None
    entrypoint = None
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            if word.strip(".…[]"):
                return _image(word, entrypoint, rest, env, depth, problems)
            continue
        option, value = _docker_option(word, rest)
        if option in ("-e", "--env") and (pair := _ASSIGNMENT.fullmatch(value)):
            env[pair[1]] = pair[2]
        elif option == "--entrypoint":
            entrypoint = [value]
    return None


def _pod(
    words: Sequence[str], env: dict[str, str], depth: int, problems: list[Problem]
) -> _Found | None:
    """`kubectl run NAME --image=X --env=A=1 -- ARGS`; with `--command` ARGS is all that runs."""
    cut = words.index("--") if "--" in words else len(words)
    image = ""
    for option, value in zip(words[:cut], [*words[1:cut], ""], strict=True):
        name, equals, attached = option.partition("=")
        stated = attached if equals else value
        if name == "--image":
            image = stated
        elif name == "--env" and (pair := _ASSIGNMENT.fullmatch(stated)):
            env[pair[1]] = pair[2]
    args = list(words[cut + 1 :])
    if "--command" in words[:cut]:
        return _peel(args, env, depth + 1, problems)
    return _image(image, None, args, env, depth, problems)


def _start_process(
    words: Sequence[str], env: dict[str, str], depth: int, problems: list[Problem]
) -> _Found | None:
    """PowerShell's `Start-Process X -ArgumentList "..."`, where the arguments are one text."""
    names = [word.lower() for word in words]
    program = names.index("-filepath") + 1 if "-filepath" in names else 0
    given = next((at for at, name in enumerate(names) if name in ("-argumentlist", "-args")), None)
    if not words[program : program + 1] or (given is not None and len(words) < given + 2):
        return None
    line = words[given + 1] if given is not None else ""
    if "," in line and " " not in line:
        return None  # a list of texts, whose commas cannot be told from those within one
    commands, found = shell.split(line)
    problems += found
    return _peel([words[program], *(commands[0] if commands else [])], env, depth + 1, problems)


def _docker_option(word: str, rest: list[str]) -> tuple[str, str]:
    """An option of `docker run` and its value: `-e X`, `-eX`, `-itv/a:/b`, `--env=X`, `--rm`."""
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        if not equals and rest and not programs.DOCKER_SWITCH.fullmatch(option):
            value = rest.pop(0)
        return option, value
    letters = word[1:].lstrip(programs.DOCKER_LETTERS)
    if not letters:
        return word, ""
    value = letters[1:].removeprefix("=")
    if not value and rest:
        value = rest.pop(0)
    return f"-{letters[0]}", value


def _image(
    image: str,
    entrypoint: list[str] | None,
    args: list[str],
    env: dict[str, str],
    depth: int,
    problems: list[Problem],
) -> _Found | None:
    if entrypoint is not None and any(entrypoint):
        return _peel([*entrypoint, *args], env, depth + 1, problems)
    if args and not args[0].startswith("-") and (hit := _peel(args, env, depth + 1, problems)):
        return hit
    entry = programs.image_entry(image, args)
    if entry is None:
        return None
    program, before, after = entry
    return _Found(programs.PROGRAMS[program], program, (*before, *after), env)
