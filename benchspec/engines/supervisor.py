"""Runs one server, keeps its log bounded, and ends it when whoever asked for it is gone.

Run as a script of its own (`python -I -S supervisor.py ...`, standard library only), so that the
server never outlives benchspec, not even a `kill -9`: standard input is a pipe that only benchspec
holds, and its end means "stop". On Linux the kernel also kills the server with this process and, if
`--parent` is given, this process with the thread that started it.

    supervisor.py --log FILE --log-limit BYTES [--parent PID] [--capture-stdout] -- SERVER ARG...

The first line on standard output is `pid N`. Unless captured into the log, the server's own standard
output follows. The exit code is the server's, or 128 + the signal that ended it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

GRACE_S = 5.0
CANNOT_EXECUTE = 127
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def _death_signal() -> Callable[[], None]:
    """What to call in a process so that the kernel kills it with its parent (Linux; else nothing)."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class _Log:
    """The log file: what arrives beyond the limit is read and dropped, so that nobody blocks."""

    def __init__(self, path: str, limit: int) -> None:
        self.file: BinaryIO | None = open(path, "ab", buffering=0)  # noqa: SIM115, PTH123
        self.left = limit

    def write(self, data: bytes) -> None:
        if self.file is None:
            return
        try:
            self.file.write(data[: self.left])
            if len(data) > self.left:
                self.file.write(b"\n[benchspec: the log is cut here, at its size limit]\n")
        except OSError:  # a full disk must not stop the server's output from being drained
            self.left = 0
        self.left -= len(data)
        if self.left < 0:
            self.file.close()
            self.file = None


def _pump(stream: BinaryIO, log: _Log) -> None:
    while data := os.read(stream.fileno(), 65536):
        log.write(data)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _stop_on_end_of_input(group: int, ended: threading.Event) -> None:
    """Wait for the end of standard input, then end the group; a stopped one is continued first."""
    while os.read(0, 4096):
        pass
    _signal_group(group, signal.SIGTERM)
    _signal_group(group, signal.SIGCONT)
    if not ended.wait(GRACE_S):
        _signal_group(group, signal.SIGKILL)


def _start(arguments: argparse.Namespace, log: _Log) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            arguments.server,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if arguments.capture_stdout else None,
            stderr=subprocess.STDOUT if arguments.capture_stdout else subprocess.PIPE,
            process_group=0,
            preexec_fn=_death_signal(),  # noqa: PLW1509 (no thread has been started yet)
        )
    except OSError as error:
        log.write(f"error: cannot execute {arguments.server[0]}: {error.strerror}\n".encode())
        return None


def _supervise(arguments: argparse.Namespace) -> int:
    log = _Log(arguments.log, arguments.log_limit)
    server = _start(arguments, log)
    if server is None:
        return CANNOT_EXECUTE
    print(f"pid {server.pid}", flush=True)  # noqa: T201
    output = server.stdout or server.stderr
    assert output is not None
    ended = threading.Event()
    pump = threading.Thread(target=_pump, args=(output, log), daemon=True)
    pump.start()
    watch = (server.pid, ended)
    threading.Thread(target=_stop_on_end_of_input, args=watch, daemon=True).start()
    try:
        code = server.wait()
    finally:  # also when this process is told to end: nothing of the server's group is left behind
        ended.set()
        _signal_group(server.pid, signal.SIGKILL)
    pump.join(timeout=2.0)
    return code if code >= 0 else 128 - code


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    parser.add_argument("--log-limit", type=int, required=True)
    parser.add_argument("--parent", type=int)
    parser.add_argument("--capture-stdout", action="store_true")
    parser.add_argument("server", nargs="+")
    return parser.parse_args(argv)


def main() -> int:
    """Supervise the server of the command line; its exit code, or 128 + the signal that ended it."""
    arguments = _arguments(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if arguments.parent is not None:
        _death_signal()()
        if os.getppid() != arguments.parent:  # it was gone before the kernel was asked
            return 128 + signal.SIGKILL
    return _supervise(arguments)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a daemon thread may still hold standard input
