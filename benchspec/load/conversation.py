"""Several turns with a server, each of which carries everything that was said before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Conversation:
    """What is asked, turn by turn; `body(prompt, earlier=...)` makes the request of one turn (see
    `request_body`).

    The answers are the server's own, so that its prefix cache can reuse all of a conversation.
    """

    prompts: tuple[str, ...]
    body: Callable[..., bytes]

    def turn(self, answers: Sequence[str]) -> bytes:
        """The body of the request that follows these answers, of which the last turn has none."""
        earlier = list(zip(self.prompts, answers, strict=False))
        return self.body(self.prompts[len(answers)], earlier=earlier)
