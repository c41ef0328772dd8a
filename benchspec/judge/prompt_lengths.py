"""Prompt tokens that were asked for, beside those that the server counted."""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step


@dataclass(frozen=True)
class PromptLength:
    """Tokens: `asked` for, and the fewest and most that the server counted for a prompt."""

    asked: int
    fewest: int
    most: int

    @property
    def off(self) -> bool:
        """Whether a prompt was of another length than asked for."""
        apart = max(abs(count - self.asked) for count in (self.fewest, self.most))
        return apart > limit("tokens.length") * self.asked

    @property
    def counted(self) -> str:
        return f"{self.fewest}" if self.fewest == self.most else f"{self.fewest}..{self.most}"


def prompt_length(case: Case, step: Step) -> PromptLength | None:
    """Of the answered requests of a step; of conversations only their first turn, because later
    ones carry what was said before. None where no length was asked for or none was counted."""
    arm = case.arms.get(step.arm)
    if arm is None or arm.workload.prompt.file is not None:
        return None
    swept = step.context_tokens if case.spec.load.context else None
    asked = swept or arm.workload.prompt.tokens
    opening = [r for r in figures.succeeded(step) if r.turn in (None, 1)]
    counts = [r.prompt_tokens for r in opening if r.prompt_tokens]
    return PromptLength(asked, min(counts), max(counts)) if asked and counts else None
