"""A llama-server binary and an attached address: the adapter against what may go wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from benchspec.engines import engine_for, llama_cpp
from benchspec.engines.base import Launch
from benchspec.errors import EngineFailure, EnvironmentFailure, UsageError
from tests.engines.conftest import Respond, answer

Serve = Callable[[Respond], str]


def script(path: Path, body: str) -> str:
    """An executable Python program."""
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def real_binary(tmp_path: Path) -> str:
    """A program with llama-server's command line; inside is the embedded llama.cpp."""
    return script(
        tmp_path / "llama-server",
        "import sys; from benchspec.engines.llama_cpp_embedded import main; sys.exit(main(sys.argv[1:]))",
    )


@pytest.mark.engine
def test_a_binary_is_started_on_a_free_port_and_read_back(
    embedded: Callable[..., Launch], real_binary: str
) -> None:
    with engine_for(embedded("-np", "2", "-c", "512", binary=real_binary)) as engine:
        found = engine.read_back()
        assert engine.argv[0] == real_binary and str(engine.endpoint.port) in engine.argv
        assert engine.endpoint.host == "127.0.0.1"
    assert (found.facts["slots"], found.facts["context_per_slot"]) == (2, 256)
    assert found.build == "b0-unknown"


@pytest.mark.engine
def test_a_port_in_use_is_the_reason_even_if_its_owner_looks_healthy(
    embedded: Callable[..., Launch],
    real_binary: str,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = serve(lambda request: answer(request, 200, b'{"status": "ok"}'))
    monkeypatch.setattr(llama_cpp, "free_port", lambda: int(other.rpartition(":")[2]))
    with pytest.raises(EngineFailure) as caught, engine_for(embedded(binary=real_binary)):
        pass
    assert "in use by another program" in caught.value.message or "bind" in caught.value.message


def failure(launch: Launch) -> EngineFailure:
    with pytest.raises(EngineFailure) as caught, engine_for(launch):
        pass
    return caught.value


def started(launch: Launch, tmp_path: Path, body: str) -> Launch:
    binary = script(tmp_path / "server", body)
    return replace(launch, binary=binary, model_path=tmp_path / "m.gguf")


def test_a_binary_that_dies_at_start_gives_its_logs_reason(launch: Launch, tmp_path: Path) -> None:
    body = "import sys; sys.exit('0.00.001.000 E srv  start: out of memory')"
    said = failure(started(launch, tmp_path, body)).message
    assert "out of memory (exit code 1). Its log: " in said


def test_a_binary_that_dies_without_a_word_is_said_to(launch: Launch, tmp_path: Path) -> None:
    assert (
        "its log is empty (exit code 5)"
        in failure(started(launch, tmp_path, "import sys; sys.exit(5)")).message
    )


def test_a_binary_killed_by_the_kernel_points_to_memory(launch: Launch, tmp_path: Path) -> None:
    body = "import os; os.kill(os.getpid(), 9)"
    assert "want of memory" in failure(started(launch, tmp_path, body)).message


def test_a_binary_that_never_listens_is_given_up_and_ended(launch: Launch, tmp_path: Path) -> None:
    impatient = replace(
        started(launch, tmp_path, "import time; time.sleep(60)"), ready_timeout_s=0.3
    )
    assert "not ready after 0.3 s" in failure(impatient).message


def test_a_binary_that_is_not_there_is_an_environment_failure(launch: Launch) -> None:
    missing = replace(launch, binary="/nonexistent/llama-server", model_path=Path("m.gguf"))
    with pytest.raises(EnvironmentFailure, match="not an executable program"), engine_for(missing):
        pass


# --- attached -------------------------------------------------------------------------------------


def llama_server(request: BaseHTTPRequestHandler) -> None:
    """The answers of llama-server (build 11434) with two slots, metrics off."""
    bodies: dict[str, object] = {
        "/health": {"status": "ok"},
        "/props": {
            "total_slots": 2,
            "build_info": "b11434-abc",
            "model_path": "/home/me/models/m.gguf",
            "model_alias": "/home/me/models/m.gguf",
            "default_generation_settings": {"n_ctx": 4096, "params": {"seed": 1}},
        },
        "/slots": [{"id": 0, "is_processing": True, "speculative": False}, {"id": 1}],
        "/tokenize": {"tokens": [1, 2, 3]},
    }
    body = bodies.get(request.path)
    answer(request, 200 if body else 501, json.dumps(body or {"error": {}}).encode())


def test_an_attached_server_is_read_over_http_and_not_stopped(launch: Launch, serve: Serve) -> None:
    attached = replace(launch, attach=serve(llama_server), asked={"ctx-size": 8192, "seed": 1})
    with engine_for(attached) as engine:
        found = engine.read_back()
        assert (engine.argv, engine.pids(), engine.alive()) == ([], [], True)
        assert engine.counters() == {"slots_busy": 1.0}
        assert engine.token_ids("a b c") == [1, 2, 3]
    assert (found.facts["slots"], found.facts["context_per_slot"]) == (2, 4096)
    assert (found.build, found.model) == ("b11434-abc", "m.gguf")
    records = {record.name: record for record in found.settings}
    assert records["seed"].found == 1
    assert (records["ctx-size"].asked, records["ctx-size"].found) == (8192, None)
    assert records["kv-unified"].found is None
    assert engine_for(attached).__enter__().alive()


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, b"boom"), (200, b"<html>welcome</html>"), (200, b"[" * 100_000), (404, b"{}")],
)
def test_what_is_no_llama_cpp_is_said_to_be_none(
    launch: Launch, serve: Serve, status: int, body: bytes
) -> None:
    url = serve(lambda request: answer(request, status, body))
    said = failure(replace(launch, attach=url)).message
    assert f"/health answered {status}" in said and len(said) < 400


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, b"boom"), (200, b"<html>"), (200, b"[1]"), (200, b'{"total_slots": ' + b"9" * 5000)],
)
def test_garbage_properties_are_a_failure(
    launch: Launch, serve: Serve, status: int, body: bytes
) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        healthy = request.path == "/health"
        answer(request, 200 if healthy else status, b'{"status":"ok"}' if healthy else body)

    with (
        engine_for(replace(launch, attach=serve(respond))) as engine,
        pytest.raises(EngineFailure, match="/props answered"),
    ):
        engine.read_back()


@pytest.mark.parametrize("slots", [-1, True, "4", None, 1e3, 1 << 70])
def test_an_impossible_slot_count_is_not_read(launch: Launch, serve: Serve, slots: object) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        body = {"status": "ok", "total_slots": slots, "default_generation_settings": []}
        answer(request, 200, json.dumps(body).encode())

    with engine_for(replace(launch, attach=serve(respond))) as engine:
        assert "slots" not in engine.read_back().facts


def test_a_model_still_loading_is_waited_for(launch: Launch, serve: Serve) -> None:
    asked: list[str] = []

    def respond(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path)
        ready = len(asked) > 3
        answer(request, 200 if ready else 503, b'{"status": "ok"}' if ready else b'{"error": {}}')

    with engine_for(replace(launch, attach=serve(respond))):
        assert asked == ["/health"] * 4


def test_nothing_at_the_address_is_said_at_once(launch: Launch) -> None:
    said = failure(replace(launch, attach=f"http://127.0.0.1:{llama_cpp.free_port()}")).message
    assert "nothing answers" in said


def test_a_key_that_is_wanted_is_said_to_be(launch: Launch, serve: Serve) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        health = request.path == "/health"
        answer(request, 200 if health else 401, b'{"status": "ok"}' if health else b"{}")

    with (
        engine_for(replace(launch, attach=serve(respond))) as engine,
        pytest.raises(EngineFailure, match="API key"),
    ):
        engine.read_back()


def test_kinds_that_cannot_be_run_are_refused(launch: Launch) -> None:
    with pytest.raises(UsageError, match="'command' cannot be run"):
        engine_for(replace(launch, kind="command"))
    with pytest.raises(UsageError, match="does not start vllm itself"):
        engine_for(replace(launch, kind="vllm"))
