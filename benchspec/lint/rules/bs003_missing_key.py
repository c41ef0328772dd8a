"""A key that its map cannot do without is missing.

## What it checks
The few required keys: a study has a title, a hypothesis an id and a claim, an engine a kind, a
device and an arm an id.

## Why it misleads
It does not mislead; nothing can be said about a hypothesis that claims nothing.

## Bad
```yaml
hypotheses:
  - id: H1  # error: BS003
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 2}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Four streams give at least twice the throughput of one.
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 2}
```

## Fix
Add the key.

## References
The spec language: docs/spec.md.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS003", "missing-key", "error")
