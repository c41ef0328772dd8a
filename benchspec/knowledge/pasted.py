"""What people paste around a command line: prompts, fences, argument lists, files that hold one.

`shell` splits what is left; here a text is recognised and unwrapped, and nothing is executed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from benchspec.knowledge import outline, shell
from benchspec.knowledge.model import MAX_COMMAND_CHARS, Problem


@dataclass
class Started:
    """One command of a text: its words, the variables given to it, the container that it runs in."""

    words: list[str]
    env: dict[str, str] = field(default_factory=dict)
    image: str | None = None
    entrypoint: list[str] | None = None


# What stands before a command where a terminal was copied: `$`, `(env) me@box:~$`, `[me@box dir]#`,
# `~/dir$`, `C:\dir>`, `PS C:\dir>`, and zsh's arrow with folder and branch.
_PROMPT = re.compile(
    r"""^[ \t]*(?:\([\w.-]{1,40}\)[ \t]*){0,3}(?:
          PS[ \t]+[A-Za-z]:[^>\n]{0,200}>[ \t]*
        | [A-Za-z]:\\[^>\n|&;"']{0,200}>[ \t]*
        | \[[^\]\n]{1,80}\][ \t]?[$#%][ \t]+
        | [\w.-]+@[\w.-]+[^\s$\#%]{0,200}[ \t]?[$\#%❯][ \t]+
        | [~/][^\s$\#%]{0,200}[ \t]?[$\#%][ \t]+
        | ➜[ \t]+\S{1,100}(?:[ \t]+git:\([^)\n]{1,100}\))?(?:[ \t]+✗)?[ \t]+
        | [$%❯λ][ \t]+
    )""",
    re.VERBOSE | re.MULTILINE,
)
_ROOT = re.compile(r"^[ \t]*#[ \t]+", re.MULTILINE)  # the prompt of root, where all lines have it
_FENCE = re.compile(r"^[ \t]*```[\w+-]*[ \t]*$\n?", re.MULTILINE)
_GOING_ON = re.compile(r"(?<=\\\n)[ \t]*>[ \t]+")  # the prompt of a shell that waits for the rest
_REMARKS = re.compile(r"^[ \t]*#[^\n]*(?:\n|\Z)", re.MULTILINE)
_QUOTED_LINES = re.compile(r"(?:[ \t]*>[^\n]*(?:\n|\Z))+")
_TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*')"""
_LIST = re.compile(rf"\[\s*{_TEXT}(?:\s*,\s*{_TEXT})*\s*,?\s*\]", re.DOTALL)
_ITEM = re.compile(_TEXT, re.DOTALL)
_ARGUMENTS = re.compile(r"""(?:["']?\w[\w \t]{0,40}["']?[ \t]*[:=][ \t]*)?(?=\[)""")
_LINK = re.compile(r"\[([^\s\[\]]{1,200})\]\(https?://[^\s()]{1,300}\)")
_DOCKERFILE = re.compile(
    r"^[ \t]*(CMD|ENTRYPOINT|ENV)[ \t]+((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_IS_DOCKERFILE = re.compile(r"^[ \t]*(?:CMD|ENTRYPOINT)[ \t]+\S", re.MULTILINE)
_IS_UNIT = re.compile(r"^[ \t]*(?:\[Service\]|ExecStart=|Environment=)", re.MULTILINE)
_UNIT = re.compile(
    r"^[ \t]*(ExecStart|Environment|EnvironmentFile)=((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_IS_YAML = re.compile(
    r"(?:^[ \t-]*|[{,][ \t]*)[\"']?(?:command|cmd|args|image|entrypoint)[\"']?[ \t]*:(?:[ \t]|$)",
    re.MULTILINE,
)
_WHOLE_LINE = re.compile(r"\S[ \t]+-{1,2}[A-Za-z]")
_OF_CONTAINER = re.compile(r"\$\(([A-Za-z_]\w*)\)")
_MAX_FOUND = 50
_MAX_LINES = 200  # of a unit or a Dockerfile


def unwrapped(text: str) -> str:
    """The text without code fences, Markdown's quote marks and links, and copied prompts."""
    if len(text) > MAX_COMMAND_CHARS:
        return text
    text = _LINK.sub(r"\1", _FENCE.sub("", text))
    if _QUOTED_LINES.fullmatch(text.strip()):
        text = re.sub(r"^[ \t]*>[ \t]?", "", text.strip(), flags=re.MULTILINE)
    bare = text.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == "`" and bare.count("`") in (2, 6):
        text = bare.strip("`")
    if all(line.lstrip().startswith("#") for line in text.split("\n") if line.strip()):
        text = _ROOT.sub("", text)
    return _PROMPT.sub("", _GOING_ON.sub("", text))


def read(text: str) -> tuple[list[Started], list[Problem]]:
    """The commands of a pasted text, in order, and what is doubtful in it. Never raises."""
    text = unwrapped(text)
    if len(text) <= MAX_COMMAND_CHARS:
        for form in (_argument_list, _unit, _yaml, _dockerfile):
            problems: list[Problem] = []
            found = form(text, problems)
            if found:
                return found[:_MAX_FOUND], problems
    commands, problems = shell.split(text)
    return [Started(words) for words in commands], problems


def _unit(text: str, problems: list[Problem]) -> list[Started]:
    """A systemd unit: what ExecStart starts, with the variables of Environment."""
    if not _IS_UNIT.search(text):
        return []
    env: dict[str, str] = {}
    lines: list[str] = []
    for match in islice(_UNIT.finditer(text), _MAX_LINES):
        if match[1] == "ExecStart":
            lines.append(match[2].lstrip("-@:+!"))
        elif match[1] == "Environment":
            env |= _variables(_words(match[2], problems))
        else:
            said = f"more variables come from {match[2].strip()[:80]}, which is not read here"
            problems.append(Problem("config-file", said))
    words = [_words(line, problems) for line in lines]
    return [Started(each, dict(env)) for each in words if each] or [Started([], env)]


def _argument_list(text: str, _problems: list[Problem]) -> list[Started]:
    """`["llama-server", "-m", "x"]`: a list as JSON, Python or a log prints it."""
    bare = text.strip().rstrip(",")
    opening = _ARGUMENTS.match(bare)
    if opening is None or not _LIST.fullmatch(bare, opening.end()):
        return []
    return [Started(_items(bare[opening.end() :]))]


def _items(text: str) -> list[str]:
    return [_unquoted(match.group()) for match in _ITEM.finditer(text)]


def _unquoted(item: str) -> str:
    try:
        return str(json.loads(item, strict=False)) if item[0] == '"' else item[1:-1]
    except ValueError:
        return item[1:-1]


def _dockerfile(text: str, problems: list[Problem]) -> list[Started]:
    """The last ENTRYPOINT and CMD of a Dockerfile, with its variables."""
    if not _IS_DOCKERFILE.search(text):
        return []
    env: dict[str, str] = {}
    last: dict[str, list[str]] = {}
    plain = _REMARKS.sub("", text)  # between continued lines too, as Docker takes them out
    for match in islice(_DOCKERFILE.finditer(plain), _MAX_LINES):
        words = _words(re.sub(r"\\\s*\n", " ", match[2]).strip(), problems)
        if match[1] != "ENV":
            last[match[1]] = words
        elif len(words) == 2 and "=" not in words[0]:
            env[words[0]] = words[1]
        else:
            env |= _variables(words)
    words = [*last.get("ENTRYPOINT", []), *last.get("CMD", [])]
    return [Started(words, env)] if words else []


def _words(value: object, problems: list[Problem]) -> list[str]:
    """A command as a list or as one text, whose line breaks only separate."""
    if isinstance(value, list):
        return [shell.filled(item, problems) for item in value if isinstance(item, str)]
    if not isinstance(value, str):
        return []
    if _LIST.fullmatch(value.strip()):
        return _items(value)
    commands, found = shell.split(value, one_command=True)
    problems += found
    return commands[0] if commands else []


def _yaml(text: str, problems: list[Problem]) -> list[Started]:
    """Containers of Compose and Kubernetes, and the models of llama-swap, in order of the file."""
    if not _IS_YAML.search(text):
        return []
    found: list[Started] = []
    for document in outline.parse(text):
        macros = document.get("macros") if isinstance(document, dict) else None
        for node in _maps(document):
            started = _container(node, problems) or _model(node, _texts(macros), problems)
            found += [started] if started else []
    return found


def _maps(node: object) -> Iterator[dict[str, Any]]:
    """Every map of a document, outer ones first; a shared one once."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if not isinstance(here, dict | list) or id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, dict):
            yield here
        waiting += reversed(list(here.values() if isinstance(here, dict) else here))


def _container(node: Mapping[str, Any], problems: list[Problem]) -> Started | None:
    """Compose's `command` follows the entry point; Kubernetes' `command` replaces it."""
    image, args = node.get("image"), node.get("args")
    if not isinstance(image, str) and not node.keys() & {"command", "args"}:
        return None
    command = _words(node.get("command"), problems)
    entrypoint = _words(node["entrypoint"], problems) if "entrypoint" in node else None
    if args is not None:
        entrypoint, command = (command or None), _words(args, problems)
    env = _variables(node.get("environment", node.get("env")))
    command = _put_in(_apart(command, entrypoint or [], problems), env)
    image = image if isinstance(image, str) else ""
    if not image and not command:
        return None
    return Started(command, env, image, entrypoint)


def _apart(words: list[str], before: list[str], problems: list[Problem]) -> list[str]:
    """A list of one text with a whole command line in it, unless a shell is to split that."""
    shells = bool(before) and re.fullmatch(r"-[a-z]*c", before[-1]) is not None
    if len(words) != 1 or shells or not _WHOLE_LINE.search(words[0]):
        return words
    said = "a list of one text is one argument, spaces and all; it is read as several here"
    problems.append(Problem("typographic", said))
    return _words(words[0], problems)


def _put_in(words: list[str], env: Mapping[str, str]) -> list[str]:
    """Kubernetes puts a variable of the container in for `$(X)`."""
    room = MAX_COMMAND_CHARS

    def value(match: re.Match[str]) -> str:
        nonlocal room
        stated = env.get(match[1], match[0])
        room -= len(stated)
        return stated if room > 0 else match[0]

    return [_OF_CONTAINER.sub(value, word) for word in words]


def _model(
    node: Mapping[str, Any], macros: Mapping[str, str], problems: list[Problem]
) -> Started | None:
    """A model of llama-swap: `cmd` with its macros put in, lines that open with # left out."""
    line = node.get("cmd")
    if not isinstance(line, str):
        return None
    for name, value in [*_texts(node.get("macros")).items(), *macros.items()]:
        if len(line) < MAX_COMMAND_CHARS:
            line = line.replace(f"${{{name}}}", value)
    kept = "\n".join(part for part in line.split("\n") if not part.lstrip().startswith("#"))
    return Started(_words(kept, problems), _variables(node.get("env")))


def _texts(node: object) -> dict[str, str]:
    pairs = node.items() if isinstance(node, dict) else ()
    return {name: value for name, value in pairs if isinstance(value, str)}


def _variables(node: object) -> dict[str, str]:
    """`- X=1`, `X: 1`, and Kubernetes' `- {name: X, value: 1}`."""
    if isinstance(node, dict):
        return _texts(node)
    found: dict[str, str] = {}
    for item in node if isinstance(node, list) else ():
        if isinstance(item, str) and "=" in item:
            name, _, value = item.partition("=")
            found[name] = value
        elif isinstance(item, dict) and isinstance(item.get("name"), str):
            stated = item.get("value")
            if isinstance(stated, str):
                found[item["name"]] = stated
    return found
