"""The bytes of a request."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from benchspec.engines.base import Endpoint
from benchspec.errors import UsageError
from benchspec.load.target import (
    Sampling,
    prompt_sha256,
    request_body,
    request_bytes,
    target_of,
)

HERE = Endpoint("127.0.0.1", 8080, False, "", "completions")
PLAIN = Sampling(max_tokens=16, forced=False, temperature=0.5, seed=3)


def body(dialect: str, engine: str, sampling: Sampling = PLAIN, **more: Any) -> dict[str, Any]:
    made = request_body(dialect, "Hello", sampling, engine=engine, **more)
    decoded: dict[str, Any] = json.loads(made)
    return decoded


def test_a_plain_request_holds_standard_fields_only() -> None:
    """A server that refuses unknown fields must take it."""
    assert body("chat", "openai", model="m", cache_prompt=False) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 16,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "seed": 3,
    }


def test_forcing_the_length_takes_ignore_eos() -> None:
    assert body("completions", "vllm", replace(PLAIN, forced=True))["ignore_eos"] is True
    assert "ignore_eos" not in body("completions", "vllm")


def test_what_the_spec_leaves_open_is_left_to_the_server() -> None:
    made = body("completions", "openai", Sampling(1, temperature=None))
    assert not {"temperature", "seed", "top_p", "top_k", "model"} & set(made)


def test_the_prompt_cache_is_set_for_llama_cpp_alone() -> None:
    assert body("completions", "llama.cpp", cache_prompt=False)["cache_prompt"] is False
    assert "cache_prompt" not in body("completions", "vllm", cache_prompt=False)


def test_token_ids_go_into_the_prompt_and_not_into_a_chat() -> None:
    made = request_body("completions", [1, 2, 3], PLAIN, engine="llama.cpp")
    assert json.loads(made)["prompt"] == [1, 2, 3]
    with pytest.raises(UsageError, match="chat message"):
        request_body("chat", [1, 2, 3], PLAIN, engine="llama.cpp")


def test_the_request_on_the_wire() -> None:
    target = target_of(replace(HERE, headers=(("Authorization", "Bearer k"),)))
    head, _, sent = request_bytes(target, b'{"a": 1}').partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/completions HTTP/1.1"
    assert {"Host: 127.0.0.1:8080", "Content-Length: 8", "Authorization: Bearer k"} <= set(lines)
    assert sent == b'{"a": 1}'


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/proxy", "/proxy/v1/chat/completions"),
    ],
)
def test_v1_is_in_the_path_once(base: str, path: str) -> None:
    assert target_of(replace(HERE, base_path=base, dialect="chat")).path == path


def test_an_ipv6_address_is_bracketed() -> None:
    assert target_of(replace(HERE, host="::1")).authority == "[::1]:8080"


@pytest.mark.parametrize(
    "header",
    [
        ("X-Key", "a\r\nX-Evil: b"),
        ("X-Key", "a\n"),
        ("X-Key", "a\0"),
        ("X-Key", "密"),
        ("X Key", "a"),
        ("X-Key\r\nX-Evil", "a"),
        ("", "a"),
        ("Content-Length", "1"),
        ("transfer-encoding", "chunked"),
        ("Host", "elsewhere"),
    ],
)
def test_a_header_that_could_split_the_request_is_refused(header: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="header"):
        target_of(replace(HERE, headers=(header,)))


@pytest.mark.parametrize(
    "wrong",
    [{"base_path": "/a b"}, {"base_path": "/a\r\nX: y"}, {"base_path": "a"}, {"host": "a\nb"}],
)
def test_an_address_that_could_split_the_request_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be sent"):
        target_of(replace(HERE, **wrong))


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(UsageError) as refused:
        target_of(replace(HERE, dialect="responses"))
    assert refused.value.hint == "use one of: completions, chat"


def test_the_digest_is_of_what_is_asked_and_of_nothing_else() -> None:
    def digest(prompt: str | list[int], dialect: str = "completions", **more: Any) -> str | None:
        target = target_of(replace(HERE, dialect=dialect, headers=(("Authorization", "key"),)))
        made = request_body(dialect, prompt, more.pop("sampling", PLAIN), **{"engine": "x"} | more)
        return prompt_sha256(request_bytes(target, made))

    same = digest([1, 2], engine="llama.cpp", cache_prompt=False, sampling=Sampling(9), model="m")
    assert digest([1, 2]) == same
    others = [digest([1, 3]), digest("Hello"), digest("Hello", "chat"), digest("Bye", "chat")]
    assert len({same, *others} - {None}) == 5
    assert prompt_sha256(b"POST / HTTP/1.1\r\n\r\nno JSON") is None
    turn = digest("Hello", "chat", earlier=[("Hi", "Hi!")])
    assert turn not in others, "a turn asks with everything that was said before it"
