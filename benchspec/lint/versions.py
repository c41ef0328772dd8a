"""Whether an arm's engine is older or newer than a version: by the numbers in it, in order.

`b11434` is 11434, `0.33.0-rc2` is 0.33.0; a version without a number compares with nothing.
"""

import re

from benchspec.lint.arm import Arm

_SUFFIX = re.compile(r"[-+ ].*", re.DOTALL)


def older(arm: Arm, version: str | None) -> bool:
    """True when the arm states a version below `version`."""
    return _compared(arm, version) < 0


def newer(arm: Arm, version: str | None) -> bool:
    """True when the arm states a version above `version`."""
    return _compared(arm, version) > 0


def _compared(arm: Arm, version: str | None) -> int:
    """-1, 0 or 1; 0 also where one of the two is not known."""
    one, other = _numbers(arm.engine.version if arm.engine else None), _numbers(version)
    return (one > other) - (one < other) if one and other else 0


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,9}", _SUFFIX.sub("", version or "")))
