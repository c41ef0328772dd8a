"""The two lines that mlx_lm prints after an answer. Pure.

`Prompt: 25 tokens, 100.000 tokens-per-sec` and `Generation: 100 tokens, 30.000 tokens-per-sec`;
older versions print no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from benchspec.observations.importers.logs.found import (
    Found,
    between,
    number,
    present,
    step,
    whole,
)

_LINE = re.compile(r"^\s*(Prompt|Generation): (?:(\d{1,15}) tokens, )?([\d.]{1,20}) tokens-per-sec")


def read(lines: Iterable[str]) -> Found:
    """One step with a request per answer."""
    found = Found()
    answers: list[dict[str, re.Match[str]]] = []
    for line in lines:
        match = _LINE.match(line)
        if match:
            if not answers or match[1] in answers[-1]:
                answers.append({})
            answers[-1][match[1]] = match
        elif line.startswith("Peak memory: ") and answers:
            found.leave_out("peak memory")
    step(
        found,
        [_request(answer) for answer in answers],
        "mlx_lm's own timings, its averages over each answer",
        prefill_tok_s=between(number(a["Prompt"][3]) for a in answers if "Prompt" in a),
    )
    return found


def _request(answer: dict[str, re.Match[str]]) -> dict[str, Any]:
    prompt, generation = answer.get("Prompt"), answer.get("Generation")
    return present(
        prompt_tokens=whole(prompt[2]) if prompt else None,
        tokens=whole(generation[2]) if generation else None,
        self_reported_tok_s=number(generation[3]) if generation else None,
    )
