"""Nobody checked which file the attached server has loaded.

## What it checks
A study that attaches to a running server states the `sha256` of the model that it serves. A hosted
API (kind `openai`, at an address outside this network) has no file that a customer can see: there it
is a remark, and none where the name itself carries a date or a revision.

## Why it misleads
The file in production is not always the file of the benchmark: 35 against 71 tok/s came from a
second quantisation under the same name. A server answers with a name; it does not answer with a
digest. Behind a hosted name the model, its quantisation and its hardware can change any day.

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
Run `sha256sum` on the file that the server was started with, on that machine; for a model of several
files `sha256sum *.safetensors | sha256sum`. For a hosted API write the name with its date or
revision, as `/v1/models` lists it, and under `unfinished` that the model behind it is not known.

## References
llama.cpp, `/props`: `model_path`; `/v1/models`: `size`.
"""

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS706", "served-model-unverified", "warning", applies="run")

# `gpt-4o-2024-08-06`, `mistral-large-2411`, `model@3f2a9c1`
_REVISION = re.compile(r"\d{4}-?\d\d-?\d\d|[-_@:](?:\d{4}|[0-9a-f]{7,40})$", re.IGNORECASE)
_OWN_NETWORK = (".local", ".lan", ".internal", ".home", ".arpa", ".test", ".localhost")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per model."""
    unverified = [arm for arm in subject.arms if arm.attached and not arm.model.sha256]
    for path, arms in by_place(unverified, lambda arm: arm.part("model")):
        place = path if subject.stands(*path) else arms[0].part("engine", "attach")
        affects = subject.affected(arms)
        if not all(_hosted(arm) for arm in arms):
            yield Fact(
                "The file that the attached server has loaded is not identified.",
                place,
                "add `sha256` of the file on the server's machine to `model`",
                arms=names(arms),
                affects=affects,
            )
        elif not all(_REVISION.search(arm.model.name or "") for arm in arms):
            yield Fact(
                "A hosted API shows no file: what answers under this name can change any day.",
                place,
                "write the name with its date or revision, as /v1/models lists it, and under "
                "`unfinished` that the model behind it is not known",
                arms=names(arms),
                affects=affects,
                severity="info",
            )


def _hosted(arm: Arm) -> bool:
    """True for an OpenAI server at an address that is not of this machine or its network."""
    if arm.kind != "openai" or arm.engine is None:
        return False
    host = ""
    try:
        host = urlsplit(arm.engine.attach or "").hostname or ""
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith(_OWN_NETWORK)
