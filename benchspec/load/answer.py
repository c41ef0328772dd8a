"""What a captured response says: token stamps, counts by the server, and why it failed."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from http.client import OK, responses
from typing import Any

from benchspec.load.capture import Capture, excerpt
from benchspec.load.sse import BadStream, Event, events

_DONE = b"[DONE]"
# Thinking is generated text: llama.cpp and SGLang call it reasoning_content, vLLM reasoning.
_CHAT_TEXT = ("reasoning_content", "reasoning", "content")


@dataclass
class Answer:
    """One response, understood. `error` is None exactly when it is a whole, usable answer.

    `token_ns` holds the arrival of every event that carried generated text; `coalesced_reads`
    counts reads that delivered more than one of them (only the last is then exact). `content` is
    the text without its reasoning: what a conversation carries on. `pieces` are all of it, one for
    each of these events.
    """

    token_ns: array[int] = field(default_factory=lambda: array("q"))
    coalesced_reads: int = 0
    finish_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    text_sha256: str | None = None
    content: str = ""
    error: str | None = None

    def count(self, *names: tuple[str, ...]) -> int | None:
        """The first of these places in the server's report that holds a non-negative integer."""
        for name in names:
            found = self._at(name)
            if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**53:
                return found
        return None

    def number(self, *names: tuple[str, ...]) -> float | None:
        """The first of these places that holds a finite non-negative number."""
        for name in names:
            found = self._at(name)
            if isinstance(found, (int, float)) and not isinstance(found, bool):
                value = float(found) if abs(found) < 2**53 else math.inf
                if 0 <= value < math.inf:
                    return value
        return None

    def _at(self, place: tuple[str, ...]) -> Any:
        node: Any = {"usage": self.usage, "timings": self.timings}
        for key in place:
            node = node.get(key) if isinstance(node, dict) else None
        return node


def read_answer(capture: Capture, line_bytes: int) -> Answer:
    """Understand a capture. Never raises on what the server sent: it becomes `error`."""
    answer = Answer()
    if capture.status is not None and capture.status != OK:
        answer.error = _http_error(capture)
        return answer
    reader = _StreamReader(capture, answer)
    try:
        found = events(bytes(capture.body), line_bytes, whole=capture.complete)
        for number, event in enumerate(found, 1):
            reader.take(number, event)
            if answer.error:
                break
    except BadStream as error:
        answer.error = str(error)
    reader.finish()
    return answer


class _StreamReader:
    """Folds the events of one stream into an Answer."""

    def __init__(self, capture: Capture, answer: Answer) -> None:
        self._capture = capture
        self._answer = answer
        self._content: list[str] = []
        self._events = 0
        self._done = False
        self._last_read = -1
        self._counted_read = -1

    def take(self, number: int, event: Event) -> None:
        self._events = number
        if event.data.strip() == _DONE:
            self._done = True
            return
        try:
            message = json.loads(event.data)
        except (ValueError, RecursionError):
            self._answer.error = f"event {number} of the stream is not JSON: {excerpt(event.data)}"
            return
        if not isinstance(message, dict):
            self._answer.error = f"event {number} of the stream is not an object"
        elif event.kind == "error" or message.get("error"):
            said = _error_text(message) or excerpt(event.data)
            self._answer.error = f"the server reported an error in the stream: {said}"
        else:
            self._message(message, event.end)

    def _message(self, message: dict[str, Any], end: int) -> None:
        for name in ("usage", "timings"):
            report = message.get(name)
            if isinstance(report, dict) and report:
                setattr(self._answer, name, report)
        choices = message.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._answer.finish_reason = excerpt(reason, 40)
        text, content = _generated(choice)
        if text:
            self._answer.pieces.append(text)
            self._content.append(content)
            self._token(end)

    def _token(self, end: int) -> None:
        """Stamp by the read that delivered the event's last byte."""
        read = bisect_left(self._capture.ends, end)
        self._answer.token_ns.append(self._capture.stamps_ns[read])
        if read == self._last_read != self._counted_read:
            self._answer.coalesced_reads += 1
            self._counted_read = read
        self._last_read = read

    def finish(self) -> None:
        answer, capture = self._answer, self._capture
        if answer.token_ns:
            whole = "".join(answer.pieces).encode("utf-8", "surrogatepass")
            answer.text_sha256 = hashlib.sha256(whole).hexdigest()
            # Half a character is no text that could be sent back.
            answer.content = "".join(self._content).encode("utf-8", "replace").decode()
        if answer.error:
            return
        if not capture.complete:
            answer.error = capture.failure or "the request was not finished"
        elif not self._events:
            answer.error = (
                f"the server did not stream: {capture.content_type or 'no content type'}, "
                f"{excerpt(bytes(capture.body), 120) or 'an empty body'}"
            )
        elif answer.finish_reason is None and not self._done:
            answer.error = "the stream ended early: no finish reason and no [DONE]"
        elif not answer.token_ns:
            answer.error = "the answer held no generated text"


def _generated(choice: dict[str, Any]) -> tuple[str, str]:
    """All text generated in one choice of one event, and the part of it that is the answer itself;
    empty for roles and keep-alives."""
    text = choice.get("text")
    if isinstance(text, str):
        return text, text
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return "", ""
    parts = {name: part for name in _CHAT_TEXT if isinstance(part := delta.get(name), str)}
    calls = delta.get("tool_calls")
    called = json.dumps(calls) if isinstance(calls, list) and calls else ""
    return "".join(parts.values()) or called, parts.get("content", "")


def _http_error(capture: Capture) -> str:
    status = capture.status or 0
    try:
        message = json.loads(capture.body)
    except (ValueError, RecursionError):
        message = None
    said = _error_text(message) or excerpt(bytes(capture.body))
    name = f"the server answered HTTP {status} {responses.get(status, '')}".rstrip()
    return f"{name}: {said}" if said else name


def _error_text(message: object) -> str | None:
    """The human part of an error object, in the shapes that servers use."""
    if not isinstance(message, dict):
        return None
    inner = message.get("error", message)
    if isinstance(inner, dict):
        inner = inner.get("message") or inner.get("detail")
    return excerpt(inner) if isinstance(inner, str) and inner.strip() else None
