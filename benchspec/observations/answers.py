"""What is known of the answers' texts, and of how right they were."""

from __future__ import annotations

from benchspec.observations.node import Node, Number


class Text(Node):
    """Measures of an answer's text (see TextRecord for the definitions)."""

    chars: int
    looped_chars: int
    entropy_bits: float


class Outputs(Node):
    """What was seen of the texts: how many repeat themselves, how many ended at the limit."""

    arm: str | None = None
    count: int
    degenerate: int | None = None
    truncated: int | None = None
    prompts: str | None = None


class Agreement(Node):
    """Answers of two arms to the same prompts, and the acceptance of both arms' drafts."""

    arms: list[str]
    common_prefix_tokens: list[Number] = []
    """Of answers that part."""
    whole_tokens: list[int] = []
    """Tokens of answers that do not: how much longer they would agree was not seen."""
    acceptance: list[float] = []


class Parity(Node):
    """The same questions to two arms. `only_first` were right in the first arm alone."""

    arms: list[str]
    n: int
    correct: list[int] = []
    only_first: int | None = None
    only_second: int | None = None
    margin: float | None = None
    """The registered difference that counts as none, as a share: 0.03."""
    truncated: list[float] = []
    """Share of the answers that ended at the limit, per arm."""
