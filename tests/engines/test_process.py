"""A server under its supervisor, with small programs in the server's place."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchspec.engines import process, supervisor
from benchspec.engines.process import ServerProcess, listens, open_log
from benchspec.errors import EngineFailure
from tests.engines.conftest import gone

Run = Callable[..., ServerProcess]

STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True)"
SLEEP = "; time.sleep(60)"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """`run(code)`: a supervised Python program; ended after the test."""
    started: list[ServerProcess] = []

    def start(code: str, *, capture_stdout: bool = False, argv: list[str] | None = None) -> object:
        log = tmp_path / "log"
        open_log(log)
        server = ServerProcess(
            argv or [sys.executable, "-c", code],
            env=os.environ,
            log_path=log,
            capture_stdout=capture_stdout,
        )
        started.append(server)
        return server

    yield start  # type: ignore[misc]
    for server in started:
        server.stop()


def test_lines_of_standard_output_come_one_by_one(run: Run) -> None:
    server = run("print('one\\ntwo'); print('three', end='')")
    assert [server.read_line(60) for _ in range(3)] == ["one", "two", None]


def test_reading_a_line_gives_up_after_its_time(run: Run) -> None:
    assert run("import time" + SLEEP).read_line(0.05) is None


def test_standard_error_goes_to_the_log_and_the_exit_code_is_the_servers(run: Run) -> None:
    server = run("import sys; sys.stderr.write('no such model\\n'); sys.exit(3)")
    server.wait(60)
    assert server.exit_code() == 3
    assert server.log_path.read_text() == "no such model\n"


def test_both_streams_go_to_the_log_when_captured(run: Run) -> None:
    server = run(
        "import sys; print('out', flush=True); sys.stderr.write('err')", capture_stdout=True
    )
    server.wait(60)
    assert server.log_path.read_text() == "out\nerr"


def test_a_death_by_signal_is_told_as_a_shell_does(run: Run) -> None:
    server = run("import os; os.kill(os.getpid(), 9)")
    server.wait(60)
    assert server.exit_code() == 137


def test_a_program_that_cannot_be_executed_says_so_in_the_log(run: Run, tmp_path: Path) -> None:
    server = run("", argv=[str(tmp_path / "absent")])
    server.wait(60)
    assert server.exit_code() == 127 and server.pids() == []
    assert "cannot execute" in server.log_path.read_text()


def test_the_log_is_bounded_and_the_server_is_not_blocked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LOG_LIMIT_BYTES", 10_000)
    server = run("import sys; sys.stderr.write('x' * 3_000_000); print('done')")
    assert server.read_line(60) == "done"
    server.wait(60)
    log = server.log_path.read_bytes()
    assert log.count(b"x") == 10_000 and b"cut here" in log


def test_stopping_ends_a_polite_server_at_once(run: Run) -> None:
    server = run("import time; print('up', flush=True)" + SLEEP)
    assert server.read_line(60) == "up"
    pids = server.pids()
    server.stop()
    assert server.exit_code() == 128 + 15
    assert all(gone(pid, within_s=5) for pid in pids)


def test_stopping_is_safe_to_repeat(run: Run) -> None:
    server = run("import time" + SLEEP)
    server.stop()
    server.stop()


@pytest.mark.slow
def test_a_server_that_ignores_sigterm_is_killed_after_the_grace_time(run: Run) -> None:
    server = run(STUBBORN + SLEEP)
    assert server.read_line(60) == "up"
    server.stop()
    assert server.exit_code() == 128 + 9


def test_children_of_the_server_end_with_it(run: Run) -> None:
    child = f"import signal, time; signal.signal(15, signal.SIG_IGN){SLEEP}"
    server = run(
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {child!r}]);"
        "print(p.pid, flush=True); p.wait()"
    )
    grandchild = int(server.read_line(60) or 0)
    assert server.pids() == [server.pid, grandchild]
    server.stop()
    assert gone(grandchild)


def test_children_end_also_when_only_the_server_dies(run: Run) -> None:
    server = run(
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {'import time' + SLEEP!r}]);"
        "print(p.pid, flush=True)"
    )
    assert gone(int(server.read_line(60) or 0))


def test_the_servers_end_by_the_supervisors_death(run: Run) -> None:
    server = run("import time; print('up', flush=True)" + SLEEP)
    assert server.read_line(60) == "up"
    server._supervisor.kill()
    assert server.pid is not None and gone(server.pid)


def test_a_server_started_in_a_thread_outlives_that_thread(run: Run) -> None:
    started: list[ServerProcess] = []
    code = "import time; print('up', flush=True)" + SLEEP
    thread = threading.Thread(target=lambda: started.append(run(code)))
    thread.start()
    thread.join()
    assert started[0].read_line(60) == "up"
    time.sleep(0.2)  # the kernel would have ended it with the thread
    assert started[0].exit_code() is None


def test_who_listens_on_a_port_can_be_told(run: Run) -> None:
    server = run(
        "import socket, time; s = socket.create_server(('127.0.0.1', 0));"
        "print(s.getsockname()[1], flush=True)" + SLEEP
    )
    port = int(server.read_line(60) or 0)
    assert listens(server.pids(), port) is True
    assert listens([os.getpid()], port) is False


def test_a_log_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineFailure, match="cannot be written"):
        open_log(tmp_path / "file" / "log")


def test_the_supervisor_needs_nothing_but_the_standard_library() -> None:
    source = Path(supervisor.__file__).read_text()
    assert "benchspec." not in source.split('"""', 2)[2]
