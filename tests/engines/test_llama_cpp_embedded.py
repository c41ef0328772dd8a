"""The embedded llama.cpp, for real: what it says it runs with, why it fails, and that it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from benchspec.engines import engine_for
from benchspec.engines.base import Found, Launch
from benchspec.engines.llama_cpp import LlamaCpp
from benchspec.errors import EngineFailure, UsageError
from benchspec.store.records import SettingRecord
from tests.engines.conftest import gone, shell_env

pytestmark = pytest.mark.engine

Embedded = Callable[..., Launch]


def setting(found: Found, name: str) -> SettingRecord:
    return next(record for record in found.settings if record.name == name)


def read_back(launch: Launch) -> Found:
    with engine_for(launch) as engine:
        return engine.read_back()


# --- what it runs with ----------------------------------------------------------------------------


def test_four_explicit_slots_share_the_context_between_them(embedded: Embedded) -> None:
    asked = {"parallel": 4, "ctx-size": 8192, "fit": "off"}
    found = read_back(embedded("-np", "4", "-c", "8192", asked=asked))
    assert (found.facts["slots"], found.facts["context_per_slot"]) == (4, 2048)
    assert setting(found, "parallel").found == setting(found, "parallel").asked == 4
    assert setting(found, "ctx-size").found == 8192
    assert setting(found, "ctx-size-per-slot").found == 2048
    assert setting(found, "kv-unified").found is False
    assert setting(found, "fit").found == "off"
    assert found.build is not None and found.build.startswith("xllamacpp ")
    assert found.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert found.facts["model_bytes"] == 96576768


def test_unset_slots_are_four_and_each_may_use_the_whole_context(embedded: Embedded) -> None:
    found = read_back(embedded("-c", "2048"))
    assert (found.facts["slots"], found.facts["context_per_slot"]) == (4, 2048)
    assert setting(found, "parallel").asked is None
    assert setting(found, "kv-unified").found is True


def test_one_slot(embedded: Embedded) -> None:
    found = read_back(embedded("-np", "1", "-c", "512"))
    assert (found.facts["slots"], found.facts["context_per_slot"]) == (1, 512)


def test_a_context_that_does_not_divide_is_reported_as_changed(embedded: Embedded) -> None:
    found = read_back(embedded("-np", "3", "-c", "1000", asked={"ctx-size": 1000}))
    assert setting(found, "ctx-size").found == 1536
    assert ("changed", "ctx-size") in {(f.effect, f.setting) for f in found.findings}


def test_flags_reach_the_server(embedded: Embedded) -> None:
    flags = ["-ctk", "q8_0", "-ctv", "q8_0", "-fa", "on", "-b", "128", "-ub", "64", "-cram", "0"]
    asked = {"cache-type-k": "q8_0", "ubatch-size": 64, "cache-ram": 0, "flash-attn": "on"}
    found = read_back(embedded("-c", "512", "--temp", "0", *flags, asked=asked | {"temp": 0}))
    assert {r.name: r.found for r in found.settings if r.name in asked} == asked
    assert setting(found, "temp").found == 0
    assert found.facts["threads"] == found.facts["threads_batch"] == 1


def test_a_draft_model_without_a_type_is_reported_as_ignored(
    embedded: Embedded, smollm: Path
) -> None:
    asked = {"spec-draft-model": str(smollm)}
    found = read_back(embedded("-c", "512", "-md", str(smollm), asked=asked))
    assert found.facts["speculative"] is False
    assert ("ignored", "spec-type") in {(f.effect, f.setting) for f in found.findings}


def test_the_specs_environment_counts_and_the_shells_does_not(
    embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_ARG_N_PARALLEL", "7")
    found = read_back(embedded("-c", "512"))
    assert (found.facts["slots"], found.facts["dropped_environment"]) == (
        4,
        ["LLAMA_ARG_N_PARALLEL"],
    )
    found = read_back(embedded("-c", "512", env={"LLAMA_ARG_N_PARALLEL": "2"}))
    assert found.facts["slots"] == 2


def test_counters_and_tokens(embedded: Embedded) -> None:
    with engine_for(embedded("-np", "2", "-c", "512")) as engine:
        counters = engine.counters()
        assert (counters["slots_busy"], counters["requests_deferred"]) == (0, 0)
        ids = engine.token_ids("hello world")
    assert ids is not None and len(ids) == 2


# --- why it fails ---------------------------------------------------------------------------------


def failure(launch: Launch) -> EngineFailure:
    with pytest.raises(EngineFailure) as caught, engine_for(launch):
        pass
    return caught.value


def test_a_flag_it_does_not_know_is_refused_by_name(embedded: Embedded) -> None:
    said = failure(embedded("--device", "CUDA0")).message
    assert "--device" in said and "exit code 2" in said and "engine.log" in said


def test_a_value_that_llama_server_would_silently_cut_is_refused(embedded: Embedded) -> None:
    assert "-c: '32k' is not a whole number" in failure(embedded("-c", "32k")).message


def test_a_file_that_is_no_gguf_is_named_as_the_reason(launch: Launch, tmp_path: Path) -> None:
    page = tmp_path / "model.gguf"
    page.write_text("<html>not a model</html>")
    assert "invalid magic" in failure(replace(launch, model_path=page)).message


def test_a_cut_off_model_is_named_as_the_reason(launch: Launch, smollm: Path) -> None:
    cut = launch.log_path.with_name("cut.gguf") if launch.log_path else smollm
    cut.write_bytes(smollm.read_bytes()[:5_000_000])
    assert "not within the file bounds" in failure(replace(launch, model_path=cut)).message


def test_too_many_slots_is_named_as_the_reason(embedded: Embedded) -> None:
    assert "n_seq_max must be <= 256" in failure(embedded("-np", "300")).message


def test_a_start_without_a_model_is_a_usage_error(launch: Launch) -> None:
    with pytest.raises(UsageError, match="model file"), engine_for(launch):
        pass


def test_a_start_that_takes_too_long_is_given_up(embedded: Embedded) -> None:
    said = failure(embedded("-np", "1", ready_timeout_s=0.01)).message
    assert "not ready after 0.01 s" in said


# --- that it ends ---------------------------------------------------------------------------------


def test_an_exception_ends_the_server(embedded: Embedded) -> None:
    pids: list[int] = []
    with pytest.raises(ZeroDivisionError), engine_for(embedded("-c", "512")) as engine:
        pids += engine.pids()
        assert engine.alive() and pids
        raise ZeroDivisionError
    assert all(gone(pid, within_s=5) for pid in pids)


def test_a_server_that_dies_is_no_longer_alive(embedded: Embedded) -> None:
    with engine_for(embedded("-c", "512")) as engine:
        assert isinstance(engine, LlamaCpp)
        pid = engine.pids()[0]
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        assert engine._process is not None
        engine._process.wait(60)
        assert not engine.alive()
        with pytest.raises(EngineFailure, match="/props"):
            engine.read_back()


@pytest.mark.slow
def test_a_stopped_server_is_a_failure_to_read_back_and_still_ends(embedded: Embedded) -> None:
    with engine_for(embedded("-c", "512")) as engine:
        pid = engine.pids()[0]
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(EngineFailure, match="nothing in time"):
            engine.read_back()
    assert gone(pid, within_s=5)


@pytest.mark.slow
def test_a_stopped_supervisor_does_not_keep_the_server(embedded: Embedded) -> None:
    with engine_for(embedded("-c", "512")) as engine:
        pid = engine.pids()[0]
        for process in (psutil.Process(pid), psutil.Process(pid).parent()):
            assert process is not None
            process.suspend()
    assert gone(pid)


PARENT = """
import signal, sys, time, pathlib
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from benchspec.engines import engine_for
from benchspec.engines.base import Launch
launch = Launch("llama.cpp", None, ["-t", "1", "-c", "512"], {}, pathlib.Path(sys.argv[1]), None,
                log_path=pathlib.Path(sys.argv[2]))
with engine_for(launch) as engine:
    print(*engine.pids(), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_no_server_outlives_benchspec(number: int, smollm: Path, tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(smollm), str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=shell_env(),
        text=True,
    )
    assert parent.stdout is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    supervisor = psutil.Process(pids[0]).ppid()
    parent.send_signal(number)
    parent.wait(120)
    parent.stdout.close()
    assert pids and all(gone(pid) for pid in [*pids, supervisor])
