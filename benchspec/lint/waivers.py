"""Waivers are data in the spec: which finding, where, and why. The reason is printed in the report."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.rules import ALL
from benchspec.lint.rules import (
    bs901_waiver_without_reason as without_reason,
)
from benchspec.lint.rules import (
    bs902_waiver_unused as unused,
)
from benchspec.lint.rules import (
    bs903_waiver_unknown as unknown,
)
from benchspec.spec.models import Waiver
from benchspec.spec.problems import Path, dotted

_BY_NAME = {key: module.RULE for module in ALL for key in (module.RULE.code, module.RULE.name)}
_NEVER = ("BS0", "BS9")  # a broken form, and waivers themselves


class Stated(NamedTuple):
    """One fact of one rule, and the reason why the author accepts it, if they do."""

    rule: Rule
    fact: Fact
    waived: str | None = None


def apply(found: Iterable[tuple[Rule, Fact]], waivers: Sequence[Waiver]) -> list[Stated]:
    """`found` with the reasons of the waivers that match, and what is wrong with the waivers.

    A fact about several arms is waived when every one of them is.
    """
    used: set[int] = set()
    stated = []
    for rule, fact in found:
        matching = [i for i, waiver in enumerate(waivers) if _covers(waiver, rule, fact)]
        reasons = _reasons(matching, waivers, fact)
        used.update(matching if reasons else ())
        stated.append(Stated(rule, fact, reasons))
    return stated + list(_defects(waivers, used))


def _covers(waiver: Waiver, rule: Rule, fact: Fact) -> bool:
    if waiver.rule not in (rule.code, rule.name) or rule.code.startswith(_NEVER):
        return False
    if waiver.path and not _inside(fact.path, waiver.path):
        return False
    return waiver.arm is None or waiver.arm in fact.arms


def _inside(path: Path, waived: str) -> bool:
    shown = dotted(path)
    return shown == waived or shown.startswith((f"{waived}.", f"{waived}["))


def _reasons(matching: Sequence[int], waivers: Sequence[Waiver], fact: Fact) -> str | None:
    chosen = [waivers[i] for i in matching if _reason(waivers[i])]
    arms = {waiver.arm for waiver in chosen}
    if not chosen or (None not in arms and not set(fact.arms) <= arms):
        return None
    return "; ".join(dict.fromkeys(_reason(waiver) for waiver in chosen))


def _reason(waiver: Waiver) -> str:
    """What a reader of the report will see; blanks are no reason."""
    return (waiver.reason or "").strip()


def _defects(waivers: Sequence[Waiver], used: set[int]) -> Iterable[Stated]:
    for index, waiver in enumerate(waivers):
        path: Path = ("waivers", index)
        rule = _BY_NAME.get(waiver.rule)
        if rule is None or rule.code.startswith(_NEVER):
            yield Stated(unknown.RULE, unknown.fact(waiver, path, rule, list(_BY_NAME)))
        elif not _reason(waiver):
            yield Stated(without_reason.RULE, without_reason.fact(waiver, path))
        elif index not in used:
            yield Stated(unused.RULE, unused.fact(waiver, path))
