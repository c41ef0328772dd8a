"""A waiver names a rule that does not exist, or one that cannot be waived.

## What it checks
`waivers[].rule` is the code or the name of a rule. A broken form (BS0) and the waivers themselves
(BS9) cannot be waived.

## Why it misleads
The author believes that a finding has been accepted, and readers will look for it in vain.

## Bad
```yaml
repeats: 1
waivers:
  - {rule: single-runs, reason: pilot}  # error: BS903
  - {rule: single-run, reason: pilot}
```

## Good
```yaml
repeats: 1
waivers:
  - {rule: single-run, reason: pilot}
```

## Fix
Write a code or name that `benchspec explain` lists.

## References
The linter, waivers: docs/rules/README.md.
"""

from collections.abc import Sequence

from benchspec.lint.rule import Fact, Rule
from benchspec.spec.models import Waiver
from benchspec.spec.problems import Path, shown

RULE = Rule("BS903", "waiver-unknown", "error")


def fact(waiver: Waiver, path: Path, rule: Rule | None, known: Sequence[str]) -> Fact:
    """The fact about `waiver` at `path`; `rule` is set when it exists and cannot be waived."""
    here = (*path, "rule")
    if rule is not None:
        message = f"{rule.code} {rule.name} cannot be waived."
        return Fact(message, here, "mend what it finds and delete the waiver")
    from difflib import get_close_matches

    near = get_close_matches(waiver.rule[:64], known, 1)
    help_text = f"did you mean `{near[0]}`?" if near else "`benchspec explain` lists the rules"
    return Fact(f"There is no rule {shown(waiver.rule)!r}.", here, help_text)
