"""Where requests go and what bytes they are, for the two OpenAI dialects."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from benchspec.engines.base import Endpoint
from benchspec.errors import UsageError

Prompt = str | Sequence[int]

Exchange = tuple[str, str]
"""What was asked, and what was answered."""

_RESOURCE = {"completions": "/completions", "chat": "/chat/completions"}
_ADDRESS = re.compile(r"[!-~]+")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Framing belongs to the client: a second opinion on it would desynchronise the connection.
_OWN_HEADERS = {"accept-encoding", "connection", "content-length", "host", "transfer-encoding"}


@dataclass(frozen=True)
class Target:
    """One HTTP resource. `path` is the full path; `tls` is None for plain HTTP."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    path: str
    headers: tuple[tuple[str, str], ...]
    dialect: str

    @property
    def authority(self) -> str:
        """`host:port`, an IPv6 address in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class Sampling:
    """What is asked of the generation: `forced` makes `max_tokens` the exact length.

    None leaves the choice to the server.
    """

    max_tokens: int
    forced: bool = True
    temperature: float | None = 0.0
    seed: int | None = None
    top_p: float | None = None
    top_k: int | None = None


def target_of(endpoint: Endpoint, *, tls: ssl.SSLContext | None = None) -> Target:
    """The resource for the endpoint's dialect, below its base path (`/v1` is added once).

    `tls` replaces the default context (system trust store) of a TLS endpoint.
    Raises UsageError for an unknown dialect, or a path or header that could split the request.
    """
    if endpoint.dialect not in _RESOURCE:
        raise UsageError(
            f"no request format is known for the dialect {endpoint.dialect!r}",
            hint=f"use one of: {', '.join(_RESOURCE)}",
        )
    base = endpoint.base_path.rstrip("/")
    path = (base if base.endswith("/v1") else f"{base}/v1") + _RESOURCE[endpoint.dialect]
    if not path.startswith("/") or not _ADDRESS.fullmatch(endpoint.host + path):
        raise UsageError(
            f"the server's address cannot be sent as it is written: {endpoint.host!r}, {path!r}"
        )
    for name, value in endpoint.headers:
        _check_header(name, value)
    context = (tls or default_tls()) if endpoint.tls else None
    return Target(endpoint.host, endpoint.port, context, path, endpoint.headers, endpoint.dialect)


def request_body(
    dialect: str,
    prompt: Prompt,
    sampling: Sampling,
    *,
    engine: str,
    model: str | None = None,
    cache_prompt: bool | None = None,
    earlier: Sequence[Exchange] = (),
) -> bytes:
    """The JSON body of one streaming request, after what was said `earlier` in its conversation.

    Only standard OpenAI fields, except: `ignore_eos` when the length is forced (there is no
    standard way to force it), `top_k` when it is given, and `cache_prompt` for llama.cpp alone.
    A prompt of token ids goes through the completions dialect only, and as the first of its
    conversation; raises UsageError otherwise.
    """
    body: dict[str, object] = {} if model is None else {"model": model}
    if not isinstance(prompt, str) and (dialect == "chat" or earlier):
        raise UsageError("a prompt given as token ids cannot be sent as a chat message")
    if dialect == "chat":
        body["messages"] = list(_messages(str(prompt), earlier))
    else:
        said = "".join(f"{asked}{answered}\n\n" for asked, answered in earlier)
        body["prompt"] = said + prompt if isinstance(prompt, str) else list(prompt)
    body |= {"max_tokens": sampling.max_tokens, "stream": True}
    body["stream_options"] = {"include_usage": True}
    for name in ("temperature", "seed", "top_p", "top_k"):
        if (value := getattr(sampling, name)) is not None:
            body[name] = value
    if sampling.forced:
        body["ignore_eos"] = True
    if engine == "llama.cpp" and cache_prompt is not None:
        body["cache_prompt"] = cache_prompt
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _messages(prompt: str, earlier: Sequence[Exchange]) -> Iterator[dict[str, str]]:
    for asked, answered in earlier:
        yield {"role": "user", "content": asked}
        yield {"role": "assistant", "content": answered}
    yield {"role": "user", "content": prompt}


def request_bytes(target: Target, body: bytes) -> bytes:
    """One complete HTTP/1.1 request, ready to be sent with as few calls as the socket allows."""
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        "Content-Type: application/json",
        "Accept: text/event-stream",
        "Accept-Encoding: identity",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in target.headers),
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def prompt_sha256(request: bytes) -> str | None:
    """The digest of what a request with a body of `request_body` asks, whatever else it says: equal
    where two arms were asked the same in the same dialect. None for another body."""
    try:
        body = json.loads(request.partition(b"\r\n\r\n")[2])
    except ValueError:
        return None
    asked = body.get("messages", body.get("prompt")) if isinstance(body, dict) else None
    return None if asked is None else sha256(json.dumps(asked).encode()).hexdigest()


def default_tls() -> ssl.SSLContext:
    """Trusts what the system trusts, and asks for HTTP/1.1."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _check_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name) or name.lower() in _OWN_HEADERS:
        raise UsageError(f"a request header cannot be named {name!r}")
    if any(ord(char) < 32 or ord(char) > 255 or ord(char) == 127 for char in value):
        raise UsageError(
            f"the value of the request header {name!r} holds a line break or another character "
            "that HTTP does not allow",
            hint="look for a trailing newline in the environment variable or file it came from",
        )
