"""The Markdown table of llama-bench, and the rows of llama-batched-bench and sweep-bench. Pure.

The columns of llama-bench are those settings that differ from their defaults; the last two are
always the test and `mean ± standard deviation` in tokens per second, and a row is told by them. The
others have rows of numbers: PP, TG, (B,) N_KV, T_PP s, S_PP t/s, T_TG s, S_TG t/s, (T s, S t/s),
and such a row is believed where its own quotients agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from benchspec.observations.importers.logs.found import Found, number, present, rounded, step, whole

_RATE = re.compile(r"([\d.]{1,20}) *(?:±|\+/-) *([\d.]{1,20})")
_TEST = re.compile(r"(pp|tg)(\d{1,12})(?: *@ *d(\d{1,12}))?")
_NUMBER = re.compile(r"[\d.]{1,20}")
_NEAR = 0.05
"""How far a printed rate may be from tokens / time, as both are rounded to three digits or so."""


def read(lines: Iterable[str]) -> Found:
    """One step for each row that is understood."""
    found = Found()
    header: list[str] = []
    settings: set[str] = set()
    for line in lines:
        cells = _cells(line)
        if len(cells) < 2:
            continue
        if cells[-1] == "t/s":
            header = cells
        elif _RATE.fullmatch(cells[-1]):
            _tested(found, cells, header, settings)
        elif len(cells) in (7, 10) and all(map(_NUMBER.fullmatch, cells)):
            _swept(found, cells)
    if len(settings) > 1:
        found.leave_out("the arms: rows differ in model or settings, which each `source` names")
    return found


def _cells(line: str) -> list[str]:
    text = line.strip()
    if len(text) < 2 or text[0] != "|" or text[-1] != "|":
        return []
    return [cell.strip() for cell in text[1:-1].split("|")]


def _tested(found: Found, cells: list[str], header: list[str], settings: set[str]) -> None:
    test, rate = _TEST.fullmatch(cells[-2]), _RATE.fullmatch(cells[-1])
    assert rate is not None
    mean, deviation = number(rate[1]), number(rate[2])
    if test is None or mean is None or deviation is None:
        found.leave_out("tests of prompt and answer together (pp+tg)")
        return
    setting = _setting(cells, header)
    settings.add(setting)
    speed = mean if deviation == 0 else f"{_short(mean - deviation)}..{_short(mean + deviation)}"
    tokens = whole(test[2])
    kind = (
        {"prefill_tok_s": speed, "prompt_tokens": tokens}
        if test[1] == "pp"
        else {"decode_tok_s": speed, "tokens_per_request": tokens}
    )
    source = f"llama-bench, mean ± standard deviation of its repeats: {setting}"
    step(found, [], source, concurrency=1, context_tokens=whole(test[3]) or None, **kind)


def _setting(cells: list[str], header: list[str]) -> str:
    """The other cells, named where there is a header; as text that can be printed."""
    names = header if len(header) == len(cells) else [""] * len(cells)
    words = (f"{name} {cell}".strip() for name, cell in zip(names[:-2], cells[:-2], strict=True))
    text = ", ".join(words)[:300]
    return "".join(c if c.isprintable() else " " for c in text)


def _swept(found: Found, cells: list[str]) -> None:
    values = [number(cell) for cell in cells]
    batched = len(cells) == 10
    if any(value is None for value in values):
        return
    known = [value for value in values if value is not None]
    streams = known.pop(2) if batched else 1.0
    prompt, answer, context, t_pp, s_pp, t_tg, s_tg = known[:7]
    if not _agrees(answer * streams, t_tg, s_tg) or not (prompt and answer and streams):
        return
    if not any(_agrees(prompt * n, t_pp, s_pp) for n in (1.0, streams)):
        return
    wall = known[7] if batched else None
    figures: dict[str, Any] = present(
        concurrency=int(streams),
        context_tokens=int(context) or None,
        prompt_tokens=int(prompt),
        tokens_per_request=int(answer),
        prefill_tok_s=s_pp,
        decode_tok_s=rounded(s_tg / streams),
        wall_s=wall,
    )
    tool = "llama-batched-bench" if batched else "llama.cpp's sweep-bench"
    step(found, [], f"{tool}, one row", **figures)


def _agrees(tokens: float, seconds: float, rate: float) -> bool:
    return seconds > 0 and rate > 0 and abs(tokens / seconds / rate - 1) <= _NEAR


def _short(value: float) -> str:
    return f"{max(value, 0):.10g}"
