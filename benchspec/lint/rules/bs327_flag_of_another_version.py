"""The flag exists in another version of the engine than the one that is stated.

## What it checks
Where `engine.version` is stated, every setting against the versions that have it, as far as those
are known.

## Why it misleads
The engine refuses it, or ignores it, and the description is of an experiment that nobody could run.

## Bad
```yaml
engine:
  kind: vllm
  version: "0.33.0"
  command: vllm serve some/model --max-num-seqs 4 --disable-cascade-attn  # error: BS327
```

## Good
```yaml
engine:
  kind: vllm
  version: "0.32.0"
  command: vllm serve some/model --max-num-seqs 4 --disable-cascade-attn
```

## Fix
State the version that was run, or write the flag that this version has.

## References
The engine's `--help` of that version; `benchspec explain FLAG`.
"""

from collections.abc import Iterator, Mapping

from benchspec.knowledge.model import Setting
from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names
from benchspec.lint.versions import older

RULE = Rule("BS327", "flag-of-another-version", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per setting and place."""
    for path, name, arms in by_setting(subject.arms, _foreign):
        setting = _settings(arms[0])[name]
        when = f"from {setting.since} on" if setting.since else ""
        when += f"{' and ' if when else ''}before {setting.until}" if setting.until else ""
        version = arms[0].engine.version if arms[0].engine else None
        yield Fact(
            f"`{name}` exists {when}, and the engine is {version}.",
            path,
            "state the version that was run, or use a flag that it has",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _foreign(arm: Arm) -> str:
    """The first setting that the stated version does not have, or nothing."""
    if not arm.engine or not arm.engine.version:
        return ""
    known = _settings(arm)
    return next((n for n in arm.settings if n in known and _is_foreign(arm, known[n])), "")


def _settings(arm: Arm) -> Mapping[str, Setting]:
    return arm.knowledge.settings if arm.knowledge else {}


def _is_foreign(arm: Arm, setting: Setting) -> bool:
    gone = setting.until is not None and not older(arm, setting.until)
    return older(arm, setting.since) or gone
