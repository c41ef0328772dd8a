"""The engines other than llama.cpp and vLLM: each command line as that program's parser reads it."""

from __future__ import annotations

import pytest

from benchspec.knowledge import engines, ollama
from benchspec.knowledge.engines import parse_command


@pytest.mark.parametrize(
    ("kind", "command", "expected"),
    [
        (
            "sglang",
            "python3 -m sglang.launch_server --model M --tp 2 --mem-frac 0.8 --disable-radix",
            {
                "model-path": "M",
                "tensor-parallel-size": 2,
                "mem-fraction-static": 0.8,
                "disable-radix-cache": True,
            },
        ),
        (
            "sglang",
            "sglang serve --model-path M --max-running-requests=8 --context-length 32K --dp-size 2",
            {
                "model-path": "M",
                "max-running-requests": 8,
                "context-length": 32768,
                "data-parallel-size": 2,
            },
        ),
        (
            "sglang",
            "docker run --gpus all lmsysorg/sglang:latest python3 -m sglang.launch_server --model M",
            {"model-path": "M"},
        ),
        (
            "ollama",
            "OLLAMA_NUM_PARALLEL=4 OLLAMA_CONTEXT_LENGTH=8192 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve",
            {"num-parallel": 4, "num-ctx": 8192, "kv-cache-type": "q8_0"},
        ),
        (
            "ollama",
            "ollama run llama3.2 --keepalive 10m --think=false 'tell me a story'",
            {"model": "llama3.2", "keep-alive": "10m", "think": False},
        ),
        (
            "mlx-lm",
            "python -m mlx_lm server --model M --decode-concurrency 8 --prompt-conc 8",
            {"model": "M", "decode-concurrency": 8, "prompt-concurrency": 8},
        ),
        ("mlx-lm", "mlx_lm.server --kv-bits 4", {"kv-bits": 4}),
        (
            "lm-studio",
            "lms load qwen --parallel 8 --context-length=8192 --gpu max -y",
            {"model": "qwen", "parallel": 8, "context-length": 8192, "gpu": "max", "yes": True},
        ),
        ("lm-studio", "lms server start --port 1234", {"port": 1234}),
        (
            "tgi",
            "docker run -e MAX_BATCH_SIZE=8 ghcr.io/huggingface/text-generation-inference:3.3.5"
            " --model-id M --max-concurrent-requests=256",
            {"max-batch-size": 8, "model-id": "M", "max-concurrent-requests": 256},
        ),
        (
            "tensorrt-llm",
            "trtllm-serve M --max_batch_size 64 --tp_size=2",
            {"model": "M", "max-batch-size": 64, "tensor-parallel-size": 2},
        ),
        (
            "lmdeploy",
            "lmdeploy serve api_server M --tp 2 --cache_max_entry_count 0.5 --enable-prefix",
            {
                "model": "M",
                "tp": 2,
                "cache-max-entry-count": 0.5,
                "enable-prefix-caching": True,
            },
        ),
        (
            "koboldcpp",
            "./koboldcpp-linux-x64 m.gguf --contextsize 8192 --parallelrequests 4 --multiuser",
            {
                "model-param": "m.gguf",
                "contextsize": 8192,
                "parallelrequests": 4,
                "multiuser": True,
            },
        ),
        (
            "koboldcpp",
            "python koboldcpp.py --model m.gguf --usecuda 0 mmq --tensor_split 7 3 -c 4096",
            {
                "model": "m.gguf",
                "usecuda": ["0", "mmq"],
                "tensor-split": ["7", "3"],
                "contextsize": 4096,
            },
        ),
        (
            "tabbyapi",
            "python main.py --max-batch-size 8 --cache_mode Q8 --max-seq-len 32768",
            {"max-batch-size": 8, "cache-mode": "Q8", "max-seq-len": 32768},
        ),
        (
            "llama-swap",
            "llama-swap -listen :9090 --watch-config=false",
            {"listen": ":9090", "watch-config": False},
        ),
    ],
)
def test_a_command_line(kind: str, command: str, expected: dict[str, object]) -> None:
    parsed = parse_command(kind, command)
    assert parsed.engine == kind
    assert {name: use.value for name, use in parsed.settings.items()} == expected
    assert parsed.problems == []


@pytest.mark.parametrize(
    ("kind", "command", "problem"),
    [
        ("sglang", "sglang serve --pp 2", "ambiguous-flag"),
        ("sglang", "sglang serve --tp_size 2", "unknown-flag"),
        ("sglang", "sglang serve --cuda-graph-max-bs 8", "removed-flag"),
        ("sglang", "sglang serve --enable-dp-attention", "deprecated-flag"),
        ("ollama", "OLLAMA_CONTEXT_LENGTH=32k ollama serve", "env-ignored"),
        ("ollama", "OLLAMA_NEW_ENGINE=1 ollama serve", "env-ignored"),
        ("ollama", "OLLAMA_NUM_PARALEL=4 ollama serve", "env-ignored"),
        ("tensorrt-llm", "trtllm-serve M --max-batch-size 4", "unknown-flag"),
        ("tensorrt-llm", "trtllm-serve M --extra_llm_api_options c.yml", "config-file"),
        ("tgi", "text-generation-launcher --max-conc 4", "unknown-flag"),
        ("llama-swap", "llama-swap -config c.yaml", "config-file"),
        ("mlx-lm", "mlx_lm.server --decode-concurrency many", "value-invalid"),
    ],
)
def test_what_does_not_do_what_it_says_is_a_problem(kind: str, command: str, problem: str) -> None:
    assert [each.kind for each in parse_command(kind, command).problems] == [problem]


MODELFILE = '''# made for a test
FROM llama3.2
PARAMETER num_ctx 8192
PARAMETER temperature 0
PARAMETER stop "<|user|>"
PARAMETER stop "<|end|>"
SYSTEM """
You are
terse.
"""
'''


def test_a_modelfile_states_settings() -> None:
    parsed = parse_command("ollama", MODELFILE)
    assert {name: use.value for name, use in parsed.settings.items()} == {
        "model": "llama3.2",
        "num-ctx": 8192,
        "temperature": 0.0,
        "stop": "<|user|>,<|end|>",
        "system": "\nYou are\nterse.\n",
    }
    assert {use.origin for use in parsed.settings.values()} == {"config"}


def test_a_modelfile_beats_the_servers_variables() -> None:
    env = {"OLLAMA_CONTEXT_LENGTH": "4096", "OLLAMA_NUM_PARALLEL": "2"}
    found = engines.effective("ollama", flags={}, command=MODELFILE, env=env)
    assert (found["num-ctx"].value, found["num-ctx"].origin) == (8192, "config")
    assert found["num-parallel"].origin == "env"


def test_an_unknown_parameter_of_a_modelfile_names_the_nearest() -> None:
    reading = ollama.parse_modelfile("FROM m\nPARAMETER num_contxt 1")
    assert reading is not None
    assert "num_ctx" in reading.problems[0].text


def test_a_command_is_no_modelfile() -> None:
    assert ollama.parse_modelfile("ollama serve") is None


def test_a_setting_without_a_flag_is_kept_and_its_place_is_said() -> None:
    reading = engines.resolve("ollama", flags={"num_ctx": 8192, "num-parallel": 4})
    assert {name: use.value for name, use in reading.settings.items()} == {
        "num-ctx": 8192,
        "num-parallel": 4,
    }
    assert [problem.kind for problem in reading.problems] == ["not-a-flag", "not-a-flag"]
    assert "OLLAMA_NUM_PARALLEL" in reading.problems[1].text


PRESET = """\
version = 1
[*]
flash-attn = on            ; for all
[gpt-oss-120b]
ctx-size = 32768
ngl = -1
no-kv-offload = 1
swa-full = false
jinja = 0
LLAMA_ARG_N_PARALLEL = 2
chat-template-kwargs = {"reasoning_effort": "high"}
no-mmap = 1
frobnicate = 1
"""


def test_a_preset_file_of_llamacpp() -> None:
    parsed = parse_command("llama.cpp", PRESET)
    assert {name: use.value for name, use in parsed.settings.items()} == {
        "flash-attn": "on",
        "ctx-size": 32768,
        "n-gpu-layers": "auto",
        "kv-offload": False,
        "jinja": False,
        "parallel": 2,
        "chat-template-kwargs": {"reasoning_effort": "high"},
    }
    assert [each.kind for each in parsed.problems] == ["removed-flag", "unknown-flag"]


def test_a_preset_of_several_models_states_only_what_is_common() -> None:
    parsed = parse_command("llama.cpp", "[*]\nctx-size = 512\n[a]\nparallel = 1\n[b]\nparallel = 2")
    assert set(parsed.settings) == {"ctx-size"}


def test_an_assignment_before_a_command_is_no_preset() -> None:
    parsed = parse_command("llama.cpp", "LLAMA_ARG_CTX_SIZE=512 llama-server -np 2")
    assert set(parsed.settings) == {"ctx-size", "parallel"}
