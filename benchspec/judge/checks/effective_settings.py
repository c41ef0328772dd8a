"""effective-settings: does the live server run with what was asked of it?

Needs: the settings asked for and those found on the live server or in its log, per arm.

Comparison: every setting, asked against found; a flag that is accepted and then refused in the log
is refused. One input per setting carries both. No division.

Readings
  refused         the log says that a setting was refused or ignored
  changed         a setting was found with another value, or the log says that the engine changed
                  something on its own (asked or not) or fell back
  on-but-unused   several slots were asked for, and the answers came one by one; or a setting of a
                  link path was, and the link carried less than a tenth of the expected traffic; or
                  a precision of the KV cache, and it holds as many tokens as the control's
  as-asked        everything that could be read back is as asked

Silent when: nothing asked could be read back. A setting that cannot be read is named in a caveat,
never assumed. Settings left to the engine are listed with what was found.

Value: the effective slots. Source: the server's own account of itself; where it and the completion
times differ, either alone suffices to refute the setting.
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.checks import completion_shape, expected_traffic, memory_share
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import ArmObservation, LogLine, Setting
from benchspec.observations.node import SettingValue

NAME = "effective-settings"
READINGS = ("as-asked", "refused", "changed", "on-but-unused")
NEEDS = "the settings asked for and those found on the live server or in its log"
RATE = False

_REFUSALS = ("refused", "ignored")
_CHANGES = ("changed", "fell-back")
_PATHS = ("p2p", "allreduce", "all-reduce", "all_reduce", "nccl", "nvlink")
_PRECISIONS = ("kv-cache-dtype", "kv-cache-type", "cache-type")
_LEFT_TO_ENGINE = ("auto", "-1", "default")
_SPECULATION = "spec-"
"""A draft model, its length, its type: one undertaking, whichever of them the log names."""
_TRUE, _FALSE = ("true", "on", "1", "yes", "enabled"), ("false", "off", "0", "no", "disabled")


def check(case: Case) -> list[CheckResult]:
    """One result per arm of which settings or log lines are known."""
    shapes = [
        r
        for module in (completion_shape, expected_traffic, memory_share)
        for r in module.check(case)
    ]
    seen = [arm for arm in case.arm_ids if case.observed(arm).settings or case.observed(arm).log]
    return [_judge(case, Line(NAME, arm), case.observed(arm), shapes) for arm in seen]


def _judge(case: Case, line: Line, seen: ArmObservation, shapes: list[CheckResult]) -> CheckResult:
    asked = [s for s in seen.settings if s.asked is not None]
    read = [s for s in asked if s.found is not None]
    log = [entry for entry in seen.log if _concerns(entry, asked)]
    refusals = [entry for entry in log if entry.effect in _REFUSALS]
    arm = line.arm or ""
    unused = (
        _unused(case, arm, shapes)
        or _unused_path(arm, asked, shapes)
        or _unused_precision(arm, asked, shapes)
    )
    if not read and not refusals and not unused:
        return line.silent(lacking("any asked setting that can be read back"))
    changed = [s for s in read if not same(s.asked, s.found)]
    fallen = [entry for entry in log if entry.effect in _CHANGES]
    slots = case.slots(arm)
    reading = (
        "refused"
        if refusals
        else "changed"
        if changed or fallen
        else "on-but-unused"
        if unused
        else "as-asked"
    )
    return line.judged(
        reading,
        _sentence(asked, read, changed, refusals + fallen, unused),
        slots.count if slots else None,
        "slots",
        inputs=[_input(s) for s in seen.settings],
        caveats=_caveats(asked, read, [e for e in seen.log if e not in refusals + fallen]),
    ).model_copy(update={"n": 1})


def same(asked: SettingValue, found: SettingValue) -> bool:
    """Whether a value found means what was asked: `8192` and 8192, `on` and true, auto and any."""
    a, b = str(asked).strip().lower(), str(found).strip().lower()
    if a in _LEFT_TO_ENGINE or a == b:
        return True
    try:
        return float(a) == float(b)
    except ValueError:
        return any(a in words and b in words for words in (_TRUE, _FALSE))


def _concerns(entry: LogLine, asked: list[Setting]) -> bool:
    """Whether a line of the log is about something that was asked for, or says that the engine
    changed something on its own, which nobody has to have asked for."""
    if entry.setting is None or not asked or entry.effect in _CHANGES:
        return True
    names = {s.name for s in asked}
    speculation = entry.setting.startswith(_SPECULATION)
    return entry.setting in names or (
        speculation and any(n.startswith(_SPECULATION) for n in names)
    )


def _unused(case: Case, arm: str, shapes: list[CheckResult]) -> str | None:
    """Several slots were asked for, and a burst of several came one by one."""
    declared = case.setup(arm).declared_slots()
    if declared is None or declared.count < 2:
        return None
    for shape in shapes:
        if shape.arm == arm and shape.reading == "staircase":
            count = shape.at.get("concurrency")
            return f"{declared.count} slots asked, yet {count} answers came one by one"
    return None


def _unused_path(arm: str, asked: list[Setting], results: list[CheckResult]) -> str | None:
    """A path was asked for, and hardly anything took it."""
    on = [s.name for s in asked if str(s.asked).lower() not in _FALSE]
    paths = [name for name in on if any(word in name.lower() for word in _PATHS)]
    traffic = [r for r in results if r.arm == arm and r.check == expected_traffic.NAME]
    shares = [r.value for r in traffic if isinstance(r.value, float)]
    if not paths or not shares or min(shares) >= limit("settings.unused"):
        return None
    percent = show(100 * min(shares), 2)
    return f"{', '.join(paths)} on, yet the link carried {percent} % of the expected traffic"


def _unused_precision(arm: str, asked: list[Setting], results: list[CheckResult]) -> str | None:
    """Another precision of the KV cache was asked for, and its tokens take as much room as before."""
    names = [s.name for s in asked if s.name.lower().startswith(_PRECISIONS)]
    same_size = [r for r in results if r.arm == arm and r.reading == "unchanged"]
    if not names or not same_size:
        return None
    return f"{', '.join(names)} asked, yet the cache holds {same_size[0].arithmetic}"


def _sentence(
    asked: list[Setting],
    read: list[Setting],
    changed: list[Setting],
    log: list[LogLine],
    unused: str | None,
) -> str:
    parts = [f"{len(read) - len(changed)} of {len(asked)} asked settings found as asked"]
    parts += [f"{s.name}: asked {s.asked}, found {s.found}" for s in changed]
    parts += [f"log: {entry.text}" for entry in log]
    parts += [unused] if unused else []
    return "; ".join(parts)


def _input(setting: Setting) -> Input:
    source = setting.found_source or ("not readable" if setting.found is None else None)
    return Input(name=setting.name, value=setting.found, asked=setting.asked, source=source)


def _caveats(asked: list[Setting], read: list[Setting], others: list[LogLine]) -> list[str]:
    unread = [s.name for s in asked if s not in read]
    caveats = [f"could not be read back: {', '.join(unread)}"] if unread else []
    return caveats + [f"log: {entry.text}" for entry in others]
