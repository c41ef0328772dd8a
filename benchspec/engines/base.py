"""What an engine adapter is: it starts or attaches, tells what it found, and ends what it started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchspec.store.records import LogFinding, SettingRecord


@dataclass(frozen=True)
class Launch:
    """What the plan asks of an engine for one arm.

    `argv` are the engine's own flags, spelled as that engine spells them, without executable, model,
    host and port (the adapter adds these); `attach` is a base URL of a running server instead.
    `asked` maps canonical setting names to the values stated in the spec, for the comparison with
    the live server. `ready_timeout_s` bounds start-up. `dialect` is the endpoint's (see Endpoint).
    `log_path` is where the log of a started server goes; without one nothing can be started.
    `attached_log` is the file to which an attached server logs, and `attached_log_name` that file as
    the spec names it.
    """

    kind: str
    binary: str | None
    argv: Sequence[str]
    env: Mapping[str, str]
    model_path: Path | None
    model_name: str | None
    asked: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    attach: str | None = None
    slots: int | None = None
    api_key_env: str | None = None
    log_path: Path | None = None
    attached_log: Path | None = None
    attached_log_name: str | None = None
    ready_timeout_s: float = 120.0
    dialect: str = "completions"


@dataclass(frozen=True)
class Endpoint:
    """Where the load goes. `dialect` names the request body and the stream format.

    `completions` = POST /v1/completions, `chat` = POST /v1/chat/completions; both streaming SSE.
    """

    host: str
    port: int
    tls: bool
    base_path: str
    dialect: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # may hold a key


@dataclass(frozen=True)
class Found:
    """What the live server and its log say: `settings` asked against found, refusals in `findings`.

    `model` is the name to ask for in a request. `facts` always hold `slots` and `slots_source`
    where the slots are known at all (read, or `declared`), and `context_per_slot` where it is.
    """

    build: str | None
    model: str | None
    settings: list[SettingRecord]
    findings: list[LogFinding]
    facts: dict[str, object]


class Engine(Protocol):
    """One server under test, for the length of one block of cells.

    Use as a context manager: `__enter__` starts or attaches and waits until healthy (raises
    EngineFailure with the log's reason), `__exit__` ends the whole process group it started, also
    after an exception. An attached server is never stopped. `argv` is the server's command line,
    empty when attached.
    """

    endpoint: Endpoint
    argv: list[str]

    def __enter__(self) -> Engine: ...

    def __exit__(self, *exc: object) -> None: ...

    def alive(self, patience_s: float = 0.0) -> bool:
        """False once the process it started has ended (an attached one: unknown counts as alive).

        Waits for that end at most `patience_s`: its connections break before its end is known.
        """
        ...

    def pids(self) -> list[int]:
        """Every process of the engine that can be seen, for processor time; empty when remote."""
        ...

    def read_back(self) -> Found:
        """Ask the live server and its log; a value that cannot be read is None, never guessed."""
        ...

    def trouble(self) -> list[LogFinding]:
        """What the engine's log says since `read_back`, or the last call. Raises EngineFailure when
        the log cannot be read any more."""
        ...

    def counters(self) -> dict[str, float]:
        """Server-side counters now, such as `slots_busy`, `requests_processing` and
        `requests_deferred` (waiting); only those that the server offers."""
        ...

    def token_ids(self, text: str) -> list[int] | None:
        """The server's own tokenisation of `text`, or None when it offers none."""
        ...
