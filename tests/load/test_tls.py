"""TLS on the stamped socket, with a certificate made for the test."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from benchspec.load.clock import enable_stamps
from benchspec.load.driver import Limits, Load
from benchspec.load.target import Target, target_of
from tests.load.conftest import Play, ScriptedServer
from tests.load.wire import (
    CHUNKED_HEAD,
    DONE,
    GOOD,
    assert_conserved,
    bodies,
    chunked,
    run,
    stream,
    text,
)

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")

LIMITS = Limits(connect_s=5.0, first_byte_s=5.0, idle_s=5.0)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-made certificate for 127.0.0.1 and its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "both.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    command += " -subj /CN=benchspec -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    made.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return made


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def target(server: ScriptedServer, certificate: Path) -> Target:
    trusting = ssl.create_default_context(cafile=str(certificate))
    return target_of(server.endpoint, tls=trusting)


def test_a_stream_over_tls_is_stamped_like_any_other(play: Play, certificate: Path) -> None:
    server: ScriptedServer = play(
        lambda conn: answer_twice(server, conn), server_context(certificate)
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        enable_stamps(
            held
        )  # Linux turns stamps off with the last socket that has them, and on late
        trace = run(
            target(server, certificate), Load("sustained", concurrency=1), bodies(2), LIMITS
        )
    assert_conserved(trace, 2)
    assert [request.error for request in trace.requests] == [None, None]
    assert len(trace.samples) == 4
    assert server.accepted == 2
    assert trace.client.reads == trace.client.kernel_stamps


def answer_twice(server: ScriptedServer, conn: socket.socket) -> None:
    conn.sendall(GOOD)
    server.read_request(conn)
    conn.sendall(GOOD)


def test_records_that_span_reads_and_reads_that_hold_several(play: Play, certificate: Path) -> None:
    """16 KiB records hold hundreds of events; 1.5 MB of them need many reads."""
    words = [text(f" w{number}") for number in range(20_000)]
    whole = stream(*words, text("", "length"), DONE)
    server = play(lambda conn: conn.sendall(whole), server_context(certificate))
    trace = run(target(server, certificate), Load("burst"), bodies(1), LIMITS)
    assert trace.requests[0].error is None
    assert len(trace.samples) == len(words)


def test_an_untrusted_certificate_is_a_failed_request(play: Play, certificate: Path) -> None:
    server = play(lambda conn: conn.sendall(GOOD), server_context(certificate))
    trace = run(target_of(server.endpoint), Load("burst"), bodies(1), LIMITS)
    assert trace.requests[0].error is not None
    assert "its certificate is not trusted (self-signed certificate)" in trace.requests[0].error


def test_plain_http_where_tls_is_expected_is_a_failed_request(
    play: Play, certificate: Path
) -> None:
    server = play(lambda conn: None, server_context(certificate))
    plain = play(lambda conn: conn.sendall(GOOD))
    plain.read_request = lambda conn: True  # type: ignore[method-assign]
    there = target(server, certificate)
    trace = run(
        Target(there.host, plain.endpoint.port, there.tls, there.path, (), "completions"),
        Load("burst"),
        bodies(1),
        LIMITS,
    )
    assert trace.requests[0].error is not None
    assert trace.requests[0].error.startswith("could not connect to 127.0.0.1:")


def test_a_stream_cut_without_a_closing_alert_is_a_failed_request(
    play: Play, certificate: Path
) -> None:
    begun = CHUNKED_HEAD + chunked(text("one"))
    server = play(lambda conn: conn.sendall(begun), server_context(certificate))
    trace = run(target(server, certificate), Load("burst"), bodies(1), LIMITS)
    assert (
        trace.requests[0].error == "the server closed the connection before the end of its answer"
    )
    assert trace.requests[0].samples_count == 1
