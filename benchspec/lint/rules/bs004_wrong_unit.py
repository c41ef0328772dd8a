"""A quantity has no unit, an unknown one, or one of another dimension.

## What it checks
Every quantity: sizes, bandwidths, durations, clocks, power. `GB` is 1e9 bytes and `GiB` is 2^30;
`Gb/s` (bits) is not accepted.

## Why it misleads
A bandwidth of `1555` may be MB/s or GB/s, and a verdict divides by it.

## Bad
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, memory_bandwidth: 1555}  # error: BS004
```

## Good
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, memory_bandwidth: 1555 GB/s, source: datasheet}
```

## Fix
Write the unit behind the number: `1555 GB/s`, `64 KiB`, `39.2 ms`, `265..315 GB/s`.

## References
IEC 80000-13: binary and decimal prefixes.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS004", "wrong-unit", "error")
