"""One wave of a peer's client, run by peers.py with the peers' own Python.

    build/peers/bin/python benchmarks/peer_clients.py CLIENT PORT STREAMS

Two waves of STREAMS chat requests go out at once; the second, on connections that are open, is
measured: what the client itself says of every time to first token, and its processor time. All run
under uvloop. `aiohttp` and `httpx` are read line by line, as most tools do; of GuideLLM and
llama-benchy their own request code is used, in one process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import uvloop

MOST_TOKENS = 128

BODY: dict[str, Any] = {
    "model": "known-timing",
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": MOST_TOKENS,
    "stream": True,
    "stream_options": {"include_usage": True},
}

Ask = Callable[[], Awaitable[float]]
"""Sends one request and returns its time to first token in seconds, once it has ended."""


def content(line: str | bytes) -> bool:
    """Whether a line of a stream carries generated text."""
    text = line.decode() if isinstance(line, bytes) else line
    if not text.startswith("data: {"):
        return False
    choices = json.loads(text[6:])["choices"]
    return bool(choices and choices[0]["delta"].get("content"))


@asynccontextmanager
async def aiohttp_lines(base: str) -> AsyncIterator[Ask]:
    import aiohttp  # type: ignore[import-not-found]

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> float:
            first, start = 0.0, time.perf_counter()
            async with session.post(f"{base}/chat/completions", json=BODY) as answer:
                async for line in answer.content:
                    now = time.perf_counter()
                    if content(line):
                        first = first or now
            return first - start

        yield ask


@asynccontextmanager
async def httpx_lines(base: str) -> AsyncIterator[Ask]:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=None) as client:

        async def ask() -> float:
            first, start = 0.0, time.perf_counter()
            async with client.stream("POST", f"{base}/chat/completions", json=BODY) as answer:
                async for line in answer.aiter_lines():
                    now = time.perf_counter()
                    if content(line):
                        first = first or now
            return first - start

        yield ask


@asynccontextmanager
async def guidellm_backend(base: str) -> AsyncIterator[Ask]:
    from guidellm.backends.openai.http import OpenAIHTTPBackend  # type: ignore[import-not-found]
    from guidellm.schemas import GenerationRequest, RequestInfo  # type: ignore[import-not-found]
    from guidellm.schemas.backends import OpenAIHTTPBackendArgs  # type: ignore[import-not-found]

    arguments = OpenAIHTTPBackendArgs(
        target=base.removesuffix("/v1"), model="known-timing", max_tokens=MOST_TOKENS
    )
    backend = OpenAIHTTPBackend(arguments)
    await backend.process_startup()

    async def ask() -> float:
        request = GenerationRequest(columns={"text_column": ["hello"]})
        info = RequestInfo()
        async for _ in backend.resolve(request, info):
            pass
        first, start = info.timings.first_token_iteration, info.timings.request_start
        return float(first - start)

    yield ask
    await backend.process_shutdown()


@asynccontextmanager
async def llama_benchy_client(base: str) -> AsyncIterator[Ask]:
    import aiohttp
    from llama_benchy.client import LLMClient  # type: ignore[import-not-found]

    connector = aiohttp.TCPConnector(limit=0, force_close=False, keepalive_timeout=600)
    client = LLMClient(base, "none", "known-timing")
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> float:
            result = await client.run_generation(session, "", "hello", MOST_TOKENS, no_cache=False)
            return float(result.first_token_ts - result.start_ts)

        yield ask


CLIENTS = {
    "aiohttp": aiohttp_lines,
    "llama-benchy": llama_benchy_client,
    "httpx": httpx_lines,
    "guidellm": guidellm_backend,
}


async def measure(client: str, port: int, streams: int) -> dict[str, Any]:
    """What the client says of its second wave."""
    async with CLIENTS[client](f"http://127.0.0.1:{port}/v1") as ask:
        await asyncio.gather(*(ask() for _ in range(streams)))
        cpu_s = time.process_time()
        first_s = await asyncio.gather(*(ask() for _ in range(streams)))
        cpu_s = time.process_time() - cpu_s
    return {
        "version": version(client),
        "first_ms": [1e3 * one for one in first_s],
        "cpu_us_per_event": cpu_s / (streams * MOST_TOKENS) * 1e6,
    }


if __name__ == "__main__":
    found = uvloop.run(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    sys.stderr.flush()
    print("\n" + json.dumps(found))
