"""llama.cpp: the embedded server, a llama-server binary, or one that already runs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import socket
import time
from pathlib import Path

from benchspec.engines.base import Endpoint, Found, Launch
from benchspec.engines.control_plane import Answer, ControlPlane, prometheus_values, token_ids
from benchspec.engines.endpoint import base_url, endpoint_of
from benchspec.engines.llama_cpp_found import (
    Live,
    live_settings,
    model_name,
    setting_records,
    speculates,
    text,
    whole,
)
from benchspec.engines.llama_cpp_launch import (
    LOOPBACK,
    binary_argv,
    dropped_variables,
    embedded_argv,
    environment,
)
from benchspec.engines.llama_cpp_log import FORM, MARKS, failure_reason, read_log
from benchspec.engines.log_drift import drift
from benchspec.engines.log_file import Part, log_of
from benchspec.engines.log_reading import LogReading, numbered
from benchspec.engines.process import ServerProcess, listens, open_log
from benchspec.errors import EngineFailure, EnvironmentFailure
from benchspec.store.records import LogFinding

HEALTH_TIMEOUT_S = 5.0
METRIC_PREFIX = "llamacpp:"


class LlamaCpp:
    """One llama.cpp server. Entering it raises, beside EngineFailure, UsageError or
    EnvironmentFailure for what cannot be started at all (no binary, no xllamacpp, no model)."""

    endpoint: Endpoint

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.argv: list[str] = []
        self._process: ServerProcess | None = None
        self._control: ControlPlane | None = None
        self._log = log_of(launch)

    def __enter__(self) -> LlamaCpp:
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.stop()

    def _begin(self) -> None:
        deadline = time.monotonic() + self.launch.ready_timeout_s
        launch = self.launch
        url = launch.attach or self._start(deadline)
        self.endpoint = endpoint_of(url, dialect=launch.dialect, api_key_env=launch.api_key_env)
        self._control = ControlPlane(base_url(self.endpoint), headers=dict(self.endpoint.headers))
        self._wait_healthy(deadline)
        self._check_owner()

    # --- start -----------------------------------------------------------------------------------

    def _start(self, deadline: float) -> str:
        if self.launch.binary not in (None, "embedded"):
            port = free_port()
            self._run(binary_argv(self.launch, port), capture_stdout=True)
            return f"http://{LOOPBACK}:{port}"
        if importlib.util.find_spec("xllamacpp") is None:
            raise EnvironmentFailure(
                "The embedded llama.cpp is not installed here (no module xllamacpp).",
                hint="Install its extra `llama` (README), or name a llama-server in engine.binary.",
            )
        process = self._run(embedded_argv(self.launch), capture_stdout=False)
        line = process.read_line(deadline - time.monotonic())
        if line is None or not line.startswith("listening http://"):
            process.wait(deadline - time.monotonic())
            raise self._not_started()
        return line.removeprefix("listening ")

    def _run(self, argv: list[str], *, capture_stdout: bool) -> ServerProcess:
        assert self.launch.log_path is not None, "a started engine needs a log file"
        self.argv = argv
        open_log(self.launch.log_path)
        self._process = ServerProcess(
            argv,
            env=environment(self.launch, os.environ),
            log_path=self.launch.log_path,
            capture_stdout=capture_stdout,
        )
        return self._process

    def _wait_healthy(self, deadline: float) -> None:
        """Refused or 503 while it loads, then 200 with a status; anything else is no llama.cpp."""
        pause_s = 0.02
        while time.monotonic() < deadline:
            if not self.alive():
                raise self._not_started()
            answer = self._asked().get("/health", timeout_s=HEALTH_TIMEOUT_S)
            if answer is None and self._process is None:
                raise self._failure("nothing answers", "Start the server, or correct the address.")
            if answer is not None and answer.status == 200 and _is_health(answer):
                return
            if answer is not None and answer.status != 503:
                raise self._failure(
                    f"/health answered {answer.status} with: {answer.excerpt()}",
                    "Check that this is a llama.cpp server.",
                )
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.5)
        raise self._not_started()

    def _check_owner(self) -> None:
        """Another program may hold the port and answer in our server's place."""
        if self._process is not None and listens(self._process.pids(), self.endpoint.port) is False:
            raise self._failure(
                f"port {self.endpoint.port} is in use by another program",
                "Run again: another port will be chosen.",
            )

    # --- failures --------------------------------------------------------------------------------

    def _not_started(self) -> EngineFailure:
        code = self._process.exit_code() if self._process is not None else None
        if code is None:
            seconds = f"{self.launch.ready_timeout_s:g} s"
            return self._failure(f"it was not ready after {seconds}", _TIMEOUT_HINT)
        reason = failure_reason(self._whole_log(ended=True).lines) or "its log is empty"
        if code == 137:
            reason = f"it was killed (signal 9), often for want of memory; last line: {reason}"
        return self._failure(f"{reason.rstrip('.')} (exit code {code})", _FAILED_HINT)

    def _failure(self, what: str, hint: str) -> EngineFailure:
        if self._process is None:
            return EngineFailure(f"llama.cpp at {self.launch.attach}: {what}.", hint=hint)
        log = _shown(self._process.log_path)
        return EngineFailure(f"llama.cpp did not start: {what}. Its log: {log}", hint=hint)

    # --- while it runs ---------------------------------------------------------------------------

    def alive(self, patience_s: float = 0.0) -> bool:
        if self._process is None:
            return True
        if patience_s:
            self._process.wait(patience_s)
        return self._process.exit_code() is None

    def pids(self) -> list[int]:
        return [] if self._process is None else self._process.pids()

    def read_back(self) -> Found:
        props = self._props()
        states = self._slots()
        part = self._whole_log()
        lines = list(numbered(part.lines, FORM, first=part.first))
        log = read_log(lines, asked=self.launch.asked)
        live = live_settings(props, states, log.facts)
        return Found(
            build=self._build(props, log),
            model=model_name(props),
            settings=setting_records({"parallel": self.launch.slots, **self.launch.asked}, live),
            findings=[*part.gap(), *log.findings, *drift(lines, FORM, MARKS)],
            facts=log.facts | self._served(props, states, live),
        )

    def trouble(self) -> list[LogFinding]:
        if self._log is None:
            return []
        part = self._log.news()
        lines = numbered(part.lines, FORM, first=part.first)
        log = read_log(lines, asked=self.launch.asked, running=True)
        return [*part.gap(), *log.findings]

    def _whole_log(self, *, ended: bool = False) -> Part:
        return self._log.whole(ended=ended) if self._log else Part([])

    def _props(self) -> dict[str, object]:
        answer = self._asked().get("/props")
        if answer is not None and answer.status in (401, 403):
            raise self._failure("it wants an API key", "Name its variable in engine.api_key_env.")
        props = answer.json_object() if answer is not None and answer.status == 200 else None
        if props is None:
            said = f"{answer.status} with: {answer.excerpt()}" if answer else "nothing in time"
            raise self._failure(f"/props answered {said}", "Check that this is llama.cpp.")
        return props

    def _slots(self) -> list[object] | None:
        answer = self._asked().find("/slots")
        return answer.json_array() if answer is not None else None

    def _build(self, props: dict[str, object], log: LogReading) -> str | None:
        if self._process is not None and self.launch.binary in (None, "embedded"):
            return f"xllamacpp {importlib.metadata.version('xllamacpp')}"
        return text(props.get("build_info")) or _log_build(log)

    def _served(
        self, props: dict[str, object], states: list[object] | None, live: Live
    ) -> dict[str, object]:
        """Facts of the HTTP side, beside the log's; only those that are there."""
        slots = whole(props.get("total_slots"))
        facts = {
            "slots": slots,
            "slots_source": None if slots is None else "/props",
            "context_per_slot": live.get("ctx-size-per-slot", (None,))[0],
            "model_path": text(props.get("model_path")),
            "model_file_type": text(props.get("model_ftype")),
            "build_info": text(props.get("build_info")),
            "speculative": speculates(states),
            "dropped_environment": dropped_variables(self.launch, os.environ) or None,
            **self._model_meta(),
        }
        return {name: value for name, value in facts.items() if value is not None}

    def _model_meta(self) -> dict[str, object]:
        """Size in bytes of all tensors, parameters and trained context, from /v1/models."""
        answer = self._asked().find("/v1/models")
        listed = (answer.json_object() or {}).get("data") if answer else None
        first = listed[0] if isinstance(listed, list) and listed else None
        meta = first.get("meta") if isinstance(first, dict) else None
        if not isinstance(meta, dict):
            return {}
        names = {
            "size": "model_bytes",
            "n_params": "model_parameters",
            "n_ctx_train": "n_ctx_train",
        }
        return {ours: whole(meta.get(theirs)) for theirs, ours in names.items()}

    def counters(self) -> dict[str, float]:
        """`slots_busy`, and every metric of llama.cpp under its own name (`requests_deferred`)."""
        found: dict[str, float] = {}
        slots = self._slots()
        if slots is not None:
            busy = [slot.get("is_processing") for slot in slots if isinstance(slot, dict)]
            found["slots_busy"] = float(busy.count(True))
        metrics = self._asked().find("/metrics")
        if metrics is not None:
            for name, value in prometheus_values(metrics.text()).items():
                if name.startswith(METRIC_PREFIX):
                    found[name.removeprefix(METRIC_PREFIX)] = value
        return found

    def token_ids(self, text: str) -> list[int] | None:
        return token_ids(self._asked().post("/tokenize", {"content": text, "add_special": False}))

    def _asked(self) -> ControlPlane:
        assert self._control is not None, "the engine has not been entered"
        return self._control


_TIMEOUT_HINT = "Raise the start-up time, or look into the log for what it waits for."
_FAILED_HINT = "The reason is the engine's own; change the spec or the model accordingly."


def free_port() -> int:
    """A TCP port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _shown(path: Path) -> str:
    """Relative to the current folder where it lies inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _is_health(answer: Answer) -> bool:
    return isinstance((answer.json_object() or {}).get("status"), str)


def _log_build(log: LogReading) -> str | None:
    number, commit = log.facts.get("build_number"), log.facts.get("build_commit")
    return f"b{number}-{commit}" if number else None
