"""Figures that are compared come from different instruments.

## What it checks
Arms that are compared use the same endpoint (`completions` or `chat`). In an audit: arms do not
name different clients, probes or instruments in their `identity`, and steps of one arm do not have
different sources.

## Why it misleads
Clients differ by more than servers do: at 256 streams one reads a first token of 101 ms and another
272 from the same server. A chat template adds tokens and work that a completion does not have.

## Bad
```yaml
arms:
  - {id: A}
  - {id: B, engine: {endpoint: chat}, control_for: A}  # warning: BS509
```

## Good
```yaml
arms:
  - {id: A}
  - {id: B, engine: {flags: {flash-attn: "on"}}, control_for: A}
```

## Fix
Measure both with one instrument.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS509", "instrument-differs", "warning")

_INSTRUMENTS = ("client", "instrument", "probe", "tool")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per comparison, one per instrument in an audit."""
    for pair in subject.pairs:
        one, other = pair.arm.engine, pair.base.engine
        if one and other and one.endpoint != other.endpoint:
            where = pair.arm if one.endpoint else pair.base
            yield Fact(
                f"Arm {pair.arm.id} uses {one.endpoint or 'completions'} and {pair.base.id} "
                f"{other.endpoint or 'completions'}.",
                where.part("engine", "endpoint"),
                "use one endpoint in both arms",
                related=((pair.path, "compared here"),),
                arms=(pair.arm.id, pair.base.id),
                affects=(pair.hypothesis,) if pair.hypothesis else (),
            )
    yield from _observed(subject)


def _observed(subject: Subject) -> Iterator[Fact]:
    arms = subject.seen.get("arms")
    found = arms if isinstance(arms, dict) else {}
    for name in _INSTRUMENTS:
        used = {
            arm_id: arm["identity"][name]
            for arm_id, arm in found.items()
            if isinstance(arm, dict)
            and isinstance(arm.get("identity"), dict)
            and name in arm["identity"]
        }
        if len({str(value) for value in used.values()}) > 1:
            last = list(used)[-1]
            yield Fact(
                f"The arms were measured with different {name}s: "
                f"{', '.join(f'{arm_id} {value}' for arm_id, value in used.items())}.",
                ("observations", "arms", last, "identity", name),
                "compare figures of one instrument",
                arms=tuple(used),
                affects=subject.affected(),
            )
