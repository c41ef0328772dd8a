"""A server of known timing for the tests of the measured path."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from benchspec.engines.base import Endpoint

StartServer = Callable[..., Endpoint]


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """`start_server("--tokens", "8")` starts one in a child process and says where it listens."""
    children: list[subprocess.Popen[str]] = []

    def start(*flags: str, dialect: str = "completions") -> Endpoint:
        child = subprocess.Popen(
            [sys.executable, "-m", "benchspec.load.known_timing", "--until-stdin-closes", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        assert child.stdout is not None
        return Endpoint("127.0.0.1", int(child.stdout.readline()), False, "", dialect)

    yield start
    for child in children:
        child.communicate()
