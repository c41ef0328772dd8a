"""Bytes as servers send them, and cells run against them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import uvloop

from benchspec.load.driver import CellTrace, Limits, Load, Work, drive
from benchspec.load.target import Sampling, Target, request_body

LoopFactory = Callable[[], asyncio.AbstractEventLoop]
LOOPS: dict[str, LoopFactory] = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED_HEAD = STREAM_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def event(message: Any) -> bytes:
    return b"data: " + json.dumps(message).encode() + b"\n\n"


def text(content: str, finish: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "text": content, "finish_reason": finish}]})


def delta(finish: str | None = None, **fields: object) -> bytes:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def usage(prompt: int, completion: int, **more: object) -> bytes:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    return event({"choices": [], "usage": counts})


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


def stream(*parts: bytes) -> bytes:
    """A whole chunked response."""
    return CHUNKED_HEAD + chunked(*parts) + b"0\r\n\r\n"


GOOD = stream(text("one"), text(" two"), text("", "length"), usage(5, 2), DONE)


def bodies(count: int, dialect: str = "completions") -> list[bytes]:
    asked = Sampling(max_tokens=8)
    return [request_body(dialect, f"prompt {n}", asked, engine="openai") for n in range(count)]


def run(
    target: Target,
    load: Load,
    sent: Iterable[Work],
    limits: Limits | None = None,
    loop: LoopFactory = uvloop.new_event_loop,
) -> CellTrace:
    """One cell in a loop of the given kind."""
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(drive(target, sent, load, origin_ns=time.monotonic_ns(), limits=limits))


def assert_conserved(trace: CellTrace, sent: int) -> None:
    """Sent = ok + failed, each request once, each stamp in exactly one request, times in order."""
    assert [request.index for request in trace.requests] == list(range(sent))
    assert sum(request.samples_count for request in trace.requests) == len(trace.samples)
    starts = np.cumsum([0, *(request.samples_count for request in trace.requests)])[:-1]
    assert [request.samples_start for request in trace.requests] == starts.tolist()
    for request in trace.requests:
        assert request.ok == (request.error is None)
        own = trace.samples[request.samples_start :][: request.samples_count].tolist()
        moments = [request.sent_ns, *own, request.end_ns]
        assert moments == sorted(moment for moment in moments if moment is not None) or (
            request.sent_ns is None and not own
        )
        assert [request.first_token_ns, request.last_token_ns] == (
            [own[0], own[-1]] if own else [None, None]
        )
