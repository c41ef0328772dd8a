"""The spec contains a key, or a path that tells who you are.

## What it checks
`api-key` flags and variables whose name ends in KEY, TOKEN, SECRET or PASSWORD with a value; home
folders (`/home/NAME`, `/Users/NAME`, `C:\\Users\\NAME`) in flags, command, environment and model
source.

## Why it misleads
The spec is published with the report, byte for byte. A key in it is no longer a key.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags:
    parallel: 4
    ctx-size: 8192
    n-gpu-layers: 99
    fit: "off"
    api-key: sk-1234567890  # error: BS708
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  api_key_env: LLAMA_API_KEY
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
```

## Fix
Put the key into an environment variable of your shell and name the variable in
`engine.api_key_env`. Write paths relative to the spec.

## References
The bundle's redaction: docs/spec.md.
"""

import re
from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names
from benchspec.spec.problems import Path

RULE = Rule("BS708", "secret-in-spec", "error")

_SECRET = re.compile(r"(?:^|[_-])(?:api-?_?key|token|secret|password)$", re.IGNORECASE)
_SECRET_IN_COMMAND = re.compile(
    r"--api-key[ =](?!\$)\S+|\b\w*(?:API_KEY|TOKEN|SECRET|PASSWORD)=(?!\$)\S+"
)
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)(?!user\b|name\b|NAME\b|you\b)[\w.-]+")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place."""
    told: set[Path] = set()
    for arm in subject.arms:
        for path, name, value in _texts(arm):
            if path in told:
                continue
            secret = _SECRET.search(name) or (
                name == "command" and _SECRET_IN_COMMAND.search(value)
            )
            if (secret and value and not value.startswith("$")) or _HOME.search(value):
                told.add(path)
                yield _fact(subject, arm, path, bool(secret))


def _fact(subject: Subject, arm: Arm, path: Path, secret: bool) -> Fact:
    if secret:
        return Fact(
            "This looks like a key, and the spec is published as it is.",
            path,
            "name an environment variable in engine.api_key_env instead",
            arms=names([arm]),
        )
    return Fact(
        "This path has the name of a home folder in it, and the spec is published as it is.",
        path,
        "write the path relative to the spec",
        arms=names([arm]),
        severity="warning",
    )


def _texts(arm: Arm) -> Iterator[tuple[Path, str, str]]:
    """(path, name, text) of everything that can hold a secret or a path."""
    if arm.model.source:
        yield arm.part("model", "source"), "source", arm.model.source
    engine = arm.engine
    if engine is None:
        return
    for key in ("command", "binary"):
        text = getattr(engine, key)
        if text:
            yield arm.part("engine", key), key, text
    for flag, value in engine.flags.items():
        yield arm.stated_at(flag) or arm.flags_place, flag, "" if value is None else str(value)
    for name, value in engine.env.items():
        yield arm.part("engine", "env", name), name, value
