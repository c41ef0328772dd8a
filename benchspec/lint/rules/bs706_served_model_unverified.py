"""Nobody checked which file the attached server has loaded.

## What it checks
A study that attaches to a running server states the `sha256` of the model that it serves.

## Why it misleads
The file in production is not always the file of the benchmark: 35 against 71 tok/s came from a
second quantisation under the same name. A server answers with a name; it does not answer with a
digest.

## Bad
```yaml
engine: {kind: openai, attach: "http://127.0.0.1:8000", slots: 4, version: "1.0"}
model: {name: Llama-3.1-8B, source: served}  # warning: BS706
```

## Good
```yaml
engine: {kind: openai, attach: "http://127.0.0.1:8000", slots: 4, version: "1.0"}
model:
  name: Llama-3.1-8B
  source: served
  sha256: 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0
```

## Fix
Run `sha256sum` on the file that the server was started with, on that machine.

## References
llama.cpp, `/props`: `model_path`; `/v1/models`: `size`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS706", "served-model-unverified", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per model."""
    unverified = [arm for arm in subject.arms if arm.attached and not arm.model.sha256]
    for path, arms in by_place(unverified, lambda arm: arm.part("model")):
        yield Fact(
            "The file that the attached server has loaded is not identified.",
            path if subject.stands(*path) else arms[0].part("engine", "attach"),
            "add `sha256` of the file on the server's machine to `model`",
            arms=names(arms),
            affects=subject.affected(arms),
        )
