"""Questions to a server beside the load: health, properties, counters. Never on the measured path.

Everything that comes back is untrusted: bounded in size and time, and checked before use.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from benchspec.errors import EngineFailure

ANSWER_LIMIT_BYTES = 4 * 1024 * 1024
CALL_TIMEOUT_S = 10.0

SHARES = ("_perc", "_percent", "_usage", "_ratio", "_rate")
"""Endings of metrics that are a part of something: `vllm:kv_cache_usage_perc`, `sglang:token_usage`,
`sglang:cache_hit_rate`, `llamacpp:kv_cache_usage_ratio`. Everything else is a count."""


@dataclass(frozen=True)
class Answer:
    """Status and body of one call. `json_object` and `json_array` are None where it is neither."""

    status: int
    body: bytes

    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> object:
        """The decoded body; None when it is not JSON (or nested beyond what a parser can hold)."""
        try:
            decoded: object = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return decoded

    def json_object(self) -> dict[str, object] | None:
        decoded = self.json()
        return decoded if isinstance(decoded, dict) else None

    def json_array(self) -> list[object] | None:
        decoded = self.json()
        return decoded if isinstance(decoded, list) else None

    def excerpt(self) -> str:
        """The body's beginning on one line, for a message."""
        return " ".join(self.text()[:200].split()) or "nothing"


class ControlPlane:
    """Small bounded HTTP calls to one server. No proxy, no redirect, nothing compressed."""

    def __init__(self, base_url: str, *, headers: Mapping[str, str] | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._client = httpx.Client(
            headers={"Accept-Encoding": "identity", **(headers or {})},
            timeout=CALL_TIMEOUT_S,
            trust_env=False,
            follow_redirects=False,
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, *, timeout_s: float = CALL_TIMEOUT_S) -> Answer | None:
        """GET `path`; None when there is no answer in time, or it breaks off.

        Raises EngineFailure when the answer is larger than ANSWER_LIMIT_BYTES.
        """
        return self._call("GET", path, None, timeout_s)

    def find(self, path: str) -> Answer | None:
        """GET `path`, and its answer only if that is a 200: for what a server may not offer."""
        answer = self.get(path)
        return answer if answer is not None and answer.status == 200 else None

    def post(self, path: str, body: object, *, timeout_s: float = CALL_TIMEOUT_S) -> Answer | None:
        """POST `body` as JSON to `path`; otherwise as `get`."""
        return self._call("POST", path, body, timeout_s)

    def _call(self, method: str, path: str, body: object, timeout_s: float) -> Answer | None:
        deadline = time.monotonic() + timeout_s
        content = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        url = self.base_url + path
        received = bytearray()
        try:
            with self._client.stream(
                method, url, content=content, headers=headers, timeout=timeout_s
            ) as response:
                for chunk in response.iter_raw():
                    received += chunk
                    if len(received) > ANSWER_LIMIT_BYTES:
                        raise EngineFailure(
                            f"{url} answered with more than {ANSWER_LIMIT_BYTES >> 20} MiB.",
                            hint="Check that this address is an inference server.",
                        )
                    if time.monotonic() > deadline:
                        return None
                return Answer(response.status_code, bytes(received))
        except (httpx.HTTPError, httpx.InvalidURL):
            return None


def prometheus_values(text: str) -> dict[str, float]:
    """Sample values by metric name, labels dropped: counts of one name are summed, and of a share
    (see SHARES) the largest counts, because two ranks that are 0.9 and 0.8 full are not 1.7 full.

    Reads the Prometheus text format (version 0.0.4); lines that do not fit it are skipped, and so
    are NaN and infinities, with which a server says that it has no number.
    """
    values: dict[str, float] = {}
    for line in text.splitlines():
        name, value = _sample(line)
        if value is None:
            continue
        before = values.get(name)
        if before is None:
            values[name] = value
        else:
            values[name] = max(before, value) if name.endswith(SHARES) else before + value
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _sample(line: str) -> tuple[str, float | None]:
    """Name and value of a line; no value for a comment, and for what is no finite number."""
    if line.startswith("#"):
        return "", None
    name, _, rest = line.partition("{") if "{" in line else line.partition(" ")
    number = rest.rpartition("}")[2].split()
    try:
        value = float(number[0])
    except (IndexError, ValueError):
        return "", None
    return name.strip(), value if math.isfinite(value) else None


def token_ids(answer: Answer | None) -> list[int] | None:
    """The `tokens` of a /tokenize answer; None when it is not a list of whole numbers."""
    if answer is None or answer.status != 200:
        return None
    tokens = (answer.json_object() or {}).get("tokens")
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        return None
    return tokens
