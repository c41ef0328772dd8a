"""Small bounded questions to a server that may be anything."""

from __future__ import annotations

import gzip
import math
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.engines.control_plane import (
    ANSWER_LIMIT_BYTES,
    Answer,
    ControlPlane,
    prometheus_values,
    token_ids,
)
from benchspec.errors import EngineFailure
from tests.engines.conftest import Respond, answer

Serve = Callable[[Respond], str]


def test_an_answer_is_status_and_body(serve: Serve) -> None:
    control = ControlPlane(serve(lambda request: answer(request, 503, b'{"a": 1}')))
    got = control.get("/health")
    assert got == Answer(503, b'{"a": 1}') and got.json_object() == {"a": 1}
    assert control.find("/health") is None


def test_a_body_is_sent_as_json_with_the_headers(serve: Serve) -> None:
    seen: list[object] = []

    def respond(request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["Content-Length"])
        seen.append((request.headers["Authorization"], request.rfile.read(length)))
        answer(request, 200, b"{}")

    ControlPlane(serve(respond), headers={"Authorization": "Bearer k"}).post("/x", {"a": [1]})
    assert seen == [("Bearer k", b'{"a": [1]}')]


def test_more_than_the_limit_is_a_failure(serve: Serve) -> None:
    big = b"x" * (ANSWER_LIMIT_BYTES + 1)
    with pytest.raises(EngineFailure, match="more than 4 MiB"):
        ControlPlane(serve(lambda request: answer(request, 200, big))).get("/")


def test_a_compressed_answer_is_not_unpacked(serve: Serve) -> None:
    bomb = gzip.compress(b"x" * 50_000_000)

    def respond(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Encoding", "gzip")
        request.send_header("Content-Length", str(len(bomb)))
        request.end_headers()
        request.wfile.write(bomb)

    got = ControlPlane(serve(respond)).get("/")
    assert got is not None and got.body == bomb


def test_an_answer_that_drips_is_given_up(serve: Serve) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(1000):
            request.wfile.write(b"x")
            request.wfile.flush()
            time.sleep(0.02)

    assert ControlPlane(serve(respond)).get("/", timeout_s=0.2) is None


def test_silence_is_no_answer(serve: Serve) -> None:
    assert ControlPlane("http://127.0.0.1:1").get("/") is None
    silent = serve(lambda request: time.sleep(1))
    assert ControlPlane(silent).get("/", timeout_s=0.1) is None
    assert ControlPlane(serve(lambda request: None)).get("/") is None


def test_what_does_not_speak_http_is_no_answer(serve: Serve) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"SSH-2.0-OpenSSH\r\n")

    assert ControlPlane(serve(respond)).get("/") is None


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", "http://169.254.169.254/")
        request.send_header("Content-Length", "0")
        request.end_headers()

    got = ControlPlane(serve(respond)).get("/")
    assert got is not None and got.status == 302


def test_a_proxy_of_the_shell_is_not_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert ControlPlane(serve(lambda request: answer(request, 200, b""))).get("/") is not None


@pytest.mark.parametrize(
    "body", [b"", b"nan", b"{", b"[" * 100_000, b"\xff", b"9" * 10_000, b"[1]"]
)
def test_what_is_no_json_object_is_none(body: bytes) -> None:
    assert Answer(200, body).json_object() is None


def test_an_excerpt_is_one_short_line() -> None:
    assert Answer(200, b"a\n  b\r\n" + b"c" * 900).excerpt().startswith("a b c")
    assert len(Answer(200, b"a" * 900).excerpt()) == 200
    assert Answer(200, b"").excerpt() == "nothing"


def test_prometheus_samples_are_summed_over_labels() -> None:
    text = """# HELP a help
a 1
b{engine="0"} 2.5
b{engine="1",x="} 9"} 1.5
c NaN 1700000000
broken
d{x="1"
"""
    values = prometheus_values(text)
    assert (values["a"], values["b"]) == (1.0, 4.0)
    assert "broken" not in values and "d" not in values


@pytest.mark.parametrize(
    "name",
    [
        "vllm:kv_cache_usage_perc",
        "vllm:gpu_cache_usage_perc",
        "sglang:token_usage",
        "sglang:cache_hit_rate",
        "llamacpp:kv_cache_usage_ratio",
        "x_percent",
    ],
)
def test_of_a_share_the_fullest_rank_counts(name: str) -> None:
    """Two data-parallel ranks: the caches are 0.9 and 0.8 full, never 1.7."""
    values = prometheus_values(f'{name}{{engine="0"}} 0.8\n{name}{{engine="1"}} 0.9\n')
    assert values == {name: 0.9}


@pytest.mark.parametrize("number", ["NaN", "nan", "+Inf", "-Inf", "inf", "1e999"])
def test_what_is_no_finite_number_is_dropped(number: str) -> None:
    """It would stand as null in the journal, which then could not be read back."""
    text = f'a {number}\nb{{engine="0"}} {number}\nb{{engine="1"}} 2\nc_usage {number}\n'
    assert prometheus_values(text) == {"b": 2.0}


def test_a_sum_beyond_every_number_is_dropped() -> None:
    assert prometheus_values('a{x="0"} 1e308\na{x="1"} 1e308\n') == {}


@given(st.text(max_size=500))
def test_no_text_breaks_the_metrics(text: str) -> None:
    assert all(map(math.isfinite, prometheus_values(text).values()))


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        (b'{"tokens": [1, 2]}', [1, 2]),
        (b'{"tokens": []}', []),
        (b'{"tokens": ["1"]}', None),
        (b'{"tokens": [true]}', None),
        (b'{"tokens": {}}', None),
        (b"[]", None),
    ],
)
def test_token_ids_are_whole_numbers_or_nothing(body: bytes, ids: list[int] | None) -> None:
    assert token_ids(Answer(200, body)) == ids
    assert token_ids(Answer(404, body)) is token_ids(None) is None
