"""The table of rules. Every module here is in it exactly once; codes are never reused."""

from __future__ import annotations

from benchspec.lint.rule import Checked, Documented
from benchspec.lint.rules import (
    bs001_unknown_key,
    bs002_wrong_type,
    bs003_missing_key,
    bs004_wrong_unit,
    bs005_duplicate_key,
    bs006_ambiguous_scalar,
    bs007_wrong_value,
    bs101_no_hypothesis,
    bs104_evidence_not_collected,
    bs201_slots_undeclared,
    bs202_sweep_within_slots,
    bs203_hardware_cap_needs_slots,
    bs204_no_single_stream_step,
    bs205_output_length_not_forced,
    bs206_self_reported_rate,
    bs207_context_too_small_per_slot,
    bs301_auto_fit_on,
    bs401_median_on_bursty,
    bs501_arms_confounded,
    bs505_single_run,
    bs508_unlabelled_rate,
    bs701_unfinished_empty,
    bs901_waiver_without_reason,
    bs902_waiver_unused,
    bs903_waiver_unknown,
)

FORM: tuple[Documented, ...] = (
    bs001_unknown_key,
    bs002_wrong_type,
    bs003_missing_key,
    bs004_wrong_unit,
    bs005_duplicate_key,
    bs006_ambiguous_scalar,
    bs007_wrong_value,
)
"""Found by the loader; a finding's kind is the rule's name."""

CHECKED: tuple[Checked, ...] = (
    bs101_no_hypothesis,
    bs104_evidence_not_collected,
    bs201_slots_undeclared,
    bs202_sweep_within_slots,
    bs203_hardware_cap_needs_slots,
    bs204_no_single_stream_step,
    bs205_output_length_not_forced,
    bs206_self_reported_rate,
    bs207_context_too_small_per_slot,
    bs301_auto_fit_on,
    bs401_median_on_bursty,
    bs501_arms_confounded,
    bs505_single_run,
    bs508_unlabelled_rate,
    bs701_unfinished_empty,
)
"""Look at a well-formed spec."""

WAIVERS: tuple[Documented, ...] = (
    bs901_waiver_without_reason,
    bs902_waiver_unused,
    bs903_waiver_unknown,
)
"""Found while waivers are applied."""

ALL: tuple[Documented, ...] = (*FORM, *CHECKED, *WAIVERS)
