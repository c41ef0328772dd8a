"""The side of a supervised server that benchspec holds: start, output lines, end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from benchspec.engines import supervisor
from benchspec.errors import EngineFailure

LOG_LIMIT_BYTES = 64 * 1024 * 1024
LINE_LIMIT_BYTES = 4096
START_TIMEOUT_S = 30.0  # for the supervisor itself, on a busy machine


class ServerProcess:
    """One server under a supervisor. Its stderr goes to `log_path`, at most LOG_LIMIT_BYTES.

    With `capture_stdout` its stdout goes there too; otherwise `read_line` gives it line by line.
    `stop` ends the server's whole process group and is safe to call twice.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        log_path: Path,
        capture_stdout: bool,
    ) -> None:
        self.argv = list(argv)
        self.log_path = log_path
        self._buffer = b""
        self._supervisor = subprocess.Popen(
            _supervised(argv, log_path, capture_stdout),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            start_new_session=True,
        )
        self.pid: int | None = None
        try:
            self.pid = self._read_pid()
        except BaseException:
            self.stop()
            raise

    def _read_pid(self) -> int | None:
        """The server's process id; None when it could not be executed (the log says why)."""
        line = self.read_line(START_TIMEOUT_S)
        if line is None or not line.startswith("pid "):
            return None
        return int(line.removeprefix("pid "))

    def exit_code(self) -> int | None:
        """None while it runs; 128 + n after signal n, 127 when it could not be executed."""
        return self._supervisor.poll()

    def wait(self, timeout_s: float) -> None:
        """Wait for its end, at most `timeout_s`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._supervisor.wait(max(0.0, timeout_s))

    def pids(self) -> list[int]:
        """The server and its descendants, without the supervisor."""
        if self.pid is None:
            return []
        try:
            children = psutil.Process(self.pid).children(recursive=True)
        except psutil.Error:
            return []
        return [self.pid, *(child.pid for child in children)]

    def read_line(self, timeout_s: float) -> str | None:
        """The next line of its standard output; None at its end or after `timeout_s`."""
        stdout = self._supervisor.stdout
        assert stdout is not None
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._buffer and len(self._buffer) < LINE_LIMIT_BYTES:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([stdout], [], [], left_s)[0]:
                return None
            data = os.read(stdout.fileno(), LINE_LIMIT_BYTES)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace")

    def stop(self) -> None:
        """End it: SIGTERM to its group, SIGKILL after the grace time; it never outlives this call."""
        assert self._supervisor.stdin is not None
        with contextlib.suppress(OSError):
            self._supervisor.stdin.close()
        try:
            self._supervisor.wait(supervisor.GRACE_S + 3.0)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also when a second Ctrl-C cuts the wait short, or the supervisor was stopped
            self._kill()

    def _kill(self) -> None:
        code = self._supervisor.poll()
        if self.pid is not None and (code is None or code < 0):  # else it ended the group itself
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._supervisor.kill()
        self._supervisor.wait()
        if self._supervisor.stdout is not None:
            self._supervisor.stdout.close()


def _supervised(argv: Sequence[str], log_path: Path, capture_stdout: bool) -> list[str]:
    command = [sys.executable, "-I", "-S", str(Path(supervisor.__file__).resolve())]
    command += ["--log", str(log_path), "--log-limit", str(LOG_LIMIT_BYTES)]
    # The kernel's parent-death signal follows the thread that forks, so only a thread that lives as
    # long as benchspec may ask for it; the pipe on standard input covers the others.
    if threading.current_thread() is threading.main_thread():
        command += ["--parent", str(os.getpid())]
    if capture_stdout:
        command += ["--capture-stdout"]
    return [*command, "--", *argv]


def listens(pids: Sequence[int], port: int) -> bool | None:
    """Whether one of `pids` listens on TCP `port`; None when this system does not let us see."""
    try:
        connections = [c for pid in pids for c in psutil.Process(pid).net_connections(kind="tcp")]
    except psutil.Error:
        return None
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections)


def open_log(log_path: Path) -> None:
    """Create the log's folder and an empty log, before anything is started.

    Raises EngineFailure when it cannot be written.
    """
    try:
        log_path.parent.mkdir(parents=True, exist_ok=True)
        log_path.write_bytes(b"")
    except OSError as error:
        raise EngineFailure(
            f"The engine's log {log_path} cannot be written: {error.strerror}.",
            hint="Choose another folder with --output, or free some space.",
        ) from error
