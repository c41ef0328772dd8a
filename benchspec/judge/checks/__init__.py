"""The table of checks: every file here, once, in the order in which they are judged and printed."""

from __future__ import annotations

from types import ModuleType

from benchspec.judge.checks import (
    aggregate,
    baseline,
    client,
    completion_shape,
    conservation,
    effective_settings,
    queueing,
    repeats,
    scaling,
)

CHECKS: tuple[ModuleType, ...] = (
    effective_settings,
    baseline,
    client,
    conservation,
    completion_shape,
    queueing,
    aggregate,
    scaling,
    repeats,
)
"""Each module has NAME, READINGS (its closed vocabulary), NEEDS (a phrase for "needs ..."), RATE
(whether a verdict on it needs three repeats), `check(case)`, and its manual page as docstring."""

BY_NAME = {module.NAME: module for module in CHECKS}
