"""The engine's log is turned down so far that nothing can be verified in it.

## What it checks
llama.cpp: a stated `verbosity` is at least 4 and `log-disable` is not set. vLLM:
`disable-log-stats` is not set. SGLang: `log-level` is not above info. Where benchspec starts
llama.cpp it asks for verbosity 4 itself.

## Why it misleads
What llama.cpp offloaded, how large its KV cache is, which all-reduce it uses and whether fitting
changed something is in lines of level 4; the default is 3. Without them "the flag was set" is all
there is.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", verbosity: 1}  # warning: BS310
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", verbosity: 4}
```

## Fix
Remove the setting, or raise it to 4.

## References
llama.cpp, common/log.cpp: library lines of level info appear at verbosity 4.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS310", "log-too-quiet-to-verify", "warning")

_NEEDED = 4
_QUIET_LEVELS = ("warning", "error", "critical")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place."""
    for path, name, arms in by_setting(subject.arms, _quiet):
        yield Fact(
            f"`{name}` keeps out of the log what shows the effective settings.",
            path,
            "remove it, or for llama.cpp write `verbosity: 4`",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _quiet(arm: Arm) -> str:
    """The setting that silences the log, or nothing."""
    for name in ("log-disable", "disable-log-stats"):
        if arm.value(name) is True:
            return name
    level = arm.number("verbosity")
    if arm.kind == "llama.cpp" and level is not None and level < _NEEDED:
        return "verbosity"
    return "log-level" if str(arm.value("log-level")).lower() in _QUIET_LEVELS else ""
