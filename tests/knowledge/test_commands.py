"""Pasted command lines: what they set, past whatever stands around the engine, whoever wrote them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchspec.knowledge import engines
from benchspec.knowledge.engines import parse_command
from benchspec.knowledge.model import MAX_COMMAND_CHARS

FIXTURES = Path(__file__).parent / "fixtures"
CASES: list[dict[str, Any]] = [
    case
    for name in ("command-lines.yaml", "posted-command-lines.yaml")
    for case in yaml.load((FIXTURES / name).read_text(encoding="utf-8"), yaml.CSafeLoader)
]
MAX_CPU_S = 2.0


def values(command: str, kind: str | None = None) -> dict[str, object]:
    parsed = parse_command(kind, command)
    return {name: use.value for name, use in parsed.settings.items()}


def complaints(command: str, kind: str | None = None) -> list[str]:
    return [problem.kind for problem in parse_command(kind, command).problems]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_real_command_line_sets_what_it_really_sets(case: dict[str, Any]) -> None:
    parsed = parse_command(case.get("kind"), case["command"])
    found = {
        "engine": parsed.engine,
        "executable": parsed.executable,
        "env": dict(parsed.env),
        "settings": {name: use.value for name, use in parsed.settings.items()},
        "problems": [[part for part in (p.kind, p.flag) if part] for p in parsed.problems],
    }
    assert found == {"env": {}, **case["expect"]}


@pytest.mark.parametrize(
    "command",
    [
        "llama-server -np 4",
        "./build/bin/llama-server -np 4",
        r".\llama-server.exe -np 4",
        "CUDA_VISIBLE_DEVICES=0 llama-server -np 4",
        "export CUDA_VISIBLE_DEVICES=0; llama-server -np 4",
        "export CUDA_VISIBLE_DEVICES=0 && cd llama.cpp && ./llama-server -np 4",
        '$env:CUDA_VISIBLE_DEVICES = "0"; llama-server -np 4',
        "sudo -E env CUDA_VISIBLE_DEVICES=0 nohup numactl -N 0 -m 0 llama-server -np 4 &",
        "nice -n 10 taskset -c 0-7 llama-server -np 4 > log.txt 2>&1 | tee x",
        "bash -lc 'exec llama-server -np 4'",
        "screen -dmS llm llama-server -np 4",
        "tmux new -d -s llm 'cd /srv && llama-server -np 4'",
        "ssh -t box 'CUDA_VISIBLE_DEVICES=3 llama-server -np 4'",
        "su - llm -c 'llama-server -np 4'",
        "kubectl exec -it pod -- llama-server -np 4",
        "$ llama-server -np 4",
        "$ export CUDA_VISIBLE_DEVICES=0\n$ ./llama-server -np 4",
        "root@box:~/llama.cpp# ./llama-server -np 4",
        "(venv) me@box:~$ llama-server -np 4",
        "[me@box llama.cpp]$ ./llama-server -np 4",
        "llama-bench -m x.gguf -p 512; llama-server -np 4",
        "(cd /srv; ./llama-server -np 4)",
        "echo start\nllama-server -np 4\n",
        "# my notes\nllama-server \\\n  -np \\\n 4  # four slots",
        "llama-server `# slots` \\\n -np 4",
        "llama-server \\\\\n -np 4",
        "llama-server ^\n -np 4",
        "llama-server \\ -np 4",
        "llama-server '-np' \"4\"",
        "docker run --rm -it -p 8080:8080 -v /m:/m --name x ghcr.io/ggml-org/llama.cpp:server -np 4",
        "docker run -dp 80:80 --gpus=all ghcr.io/ggml-org/llama.cpp:full-cuda --server -np 4",
        "podman run --entrypoint /app/llama-server ghcr.io/ggml-org/llama.cpp:full -np 4",
        "docker run ... my/llama.cpp:latest bash -c 'llama-server -np 4'",
        "docker exec -e CUDA_VISIBLE_DEVICES=0 box /app/llama-server -np 4",
        "docker compose run --rm llama.cpp -np 4",
    ],
)
def test_the_engine_is_found_past_what_stands_around_it(command: str) -> None:
    parsed = parse_command(None, command)
    assert parsed.engine == "llama.cpp"
    assert parsed.executable == "llama-server"
    assert parsed.settings["parallel"].value == 4
    assert {problem.kind for problem in parsed.problems} <= {"not-expanded"}


@pytest.mark.parametrize(
    "command",
    [
        "OLLAMA_NUM_PARALLEL=4",
        "export OLLAMA_NUM_PARALLEL=4",
        "setx OLLAMA_NUM_PARALLEL 4",
        "launchctl setenv OLLAMA_NUM_PARALLEL 4",
        '[Service]\nEnvironment="OLLAMA_NUM_PARALLEL=4" "OLLAMA_DEBUG=0"',
        "[Service]\nEnvironment=OLLAMA_NUM_PARALLEL=4\nExecStart=/usr/local/bin/ollama serve",
    ],
)
def test_variables_alone_are_settings_of_the_engine_that_is_named(command: str) -> None:
    assert parse_command("ollama", command).settings["num-parallel"].value == 4


@pytest.mark.parametrize(
    "command",
    [
        "echo llama-server -np 4",
        "pip install vllm",
        "docker pull ollama/ollama",
        "docker run --rm alpine echo hi",
        "cp llama-server /usr/local/bin",
        "",
    ],
)
def test_a_mention_of_an_engine_is_no_start_of_it(command: str) -> None:
    assert parse_command(None, command).engine is None


def test_containers_own_options_are_not_the_engines() -> None:
    command = "docker run -p 8082:8080 -v /a:/b -m 8g --cpus 4 -t ghcr.io/ggml-org/llama.cpp -c 64"
    assert values(command) == {"ctx-size": 64}


def test_variables_given_to_a_container_are_the_engines() -> None:
    command = "docker run -e OLLAMA_NUM_PARALLEL=4 --env=OLLAMA_MAX_QUEUE=9 -eOLLAMA_DEBUG=1 ollama/ollama"
    assert values(command) == {"num-parallel": 4, "max-queue": 9, "debug": "1"}


def test_nothing_is_expanded() -> None:
    parsed = parse_command(None, 'llama-server -m $MODEL -c $(nproc) --alias "`id`"')
    assert parsed.settings["model"].value == "$MODEL"
    assert [p.kind for p in parsed.problems].count("not-expanded") == 3
    assert parsed.settings["alias"].value == "`id`"


def test_quotes_that_never_close_are_a_problem() -> None:
    assert "unbalanced-quote" in complaints("llama-server -m 'x y.gguf -np 4")


def test_a_command_for_another_engine_is_said_and_sets_nothing() -> None:
    assert "other-engine" in complaints("vllm serve m", "llama.cpp")
    reading = engines.resolve("llama.cpp", flags={"np": 2}, command="vllm serve m --max-num-seqs 4")
    assert set(reading.settings) == {"parallel"}


def test_flags_alone_or_an_unknown_program_are_read_for_the_engine_that_is_named() -> None:
    assert values("-m x.gguf -np 4", "llama.cpp") == {"model": "x.gguf", "parallel": 4}
    assert values("/opt/my-build -np 4", "llama.cpp") == {"parallel": 4}
    assert complaints("/opt/my-build -np 4", "llama.cpp") == ["unknown-executable"]


def test_a_placeholder_is_a_value_and_no_redirection() -> None:
    assert values("llama-server -m <path/to/model> -np 4") == {
        "model": "<path/to/model>",
        "parallel": 4,
    }


def test_a_regular_expression_without_quotes_stays_whole() -> None:
    parsed = values("llama-server -ot blk.(1|2).ffn_.*=CPU -np 4")
    assert parsed == {"override-tensor": "blk.(1|2).ffn_.*=CPU", "parallel": 4}


def test_a_windows_path_keeps_its_backslashes() -> None:
    assert values(r"llama-server.exe -m C:\models\x.gguf")["model"] == r"C:\models\x.gguf"


HOSTILE = [
    "\0llama-server\0 -np 4",
    "llama-server " + "-np 4 " * 300_000,
    "llama-server '" + "x" * 60_000,
    '"' * 9999 + "llama-server",
    "$(" * 30_000,
    "{" * 30_000,
    'vllm serve m --x {"a": ' * 2000,
    "vllm serve m --speculative-config '" + "[" * 30_000 + "'",
    "vllm serve m --a" + ".b" * 20_000 + " 1",
    "bash -c " * 5000 + "llama-server",
    "sudo " * 9000 + "llama-server -np 4",
    "docker run " * 6000,
    "llama-server " + "-x" * 30_000,
    "llama-server -c " + "9" * 60_000,
    "vllm serve --max-num-seqs " + "9" * 60_000,
    "\\" * 60_001,
    "A=" * 30_000,
    "\ud800 llama-server -np \udfff",
    "llama-server --\n--\n-\n",
    "`" * 50_001,
    "<a" * 30_000,
    "\0" * 100_000,
    "llama-server " + "x" * 100_000,
    "A=" + "x" * 16 + "\n" + "A=$A$A\n" * 4000 + "llama-server -m $A",
    "A=" + "x" * 4000 + "\nllama-server " + "-m $A " * 8000,
    "> " * 30_000,
    "> a\n" * 15_000,
    '["a",' * 10_000,
    '["a", ' + '"b", ' * 10_000 + '"c"]',
    "command: " + "[" * 30_000,
    "x: &a [a,a,a]\n" + "".join(f"y{i}: [*a,*a,*a]\n" for i in range(3000)) + "command: llama-server",
    "b: &b {" + ",".join(f"k{i}: v" for i in range(2000)) + "}\n"
    + "".join(f"c{i}: {{<<: *b, command: x}}\n" for i in range(1500)),
    "macros:\n" + "".join(f"  m{i}: '${{m{i + 1}}}${{m{i + 1}}}'\n" for i in range(1500))
    + "models:\n  a:\n    cmd: llama-server ${m0}\n",
    "CMD x\n" + "ENV a=\\\n" * 8000,
    "CMD x\n" + "ENV a=b\n" * 8000,
    "[Service]\n" + "Environment=A=1\n" * 4000,
    "llama-server" + "\n" * 60_000 + "-x",
    "llama-server\n" + "#\n" * 30_000 + "-x",
    "(a) " * 16_000 + "$ x",
    "/" * 60_000 + "$ x",
    "a@b" * 20_000,
    "[" * 60_000,
    "“" * 60_000,
    "“a”" * 20_000,
    "$((" * 20_000,
    "$(a" * 20_000,
    "$(()" * 15_000,
    "llama-server.exe " + "%a" * 30_000 + "!A" * 1000,
    'TEMPLATE """' + '"' * 60_000,
    "[a]\n" * 15_000,
    "ngl = 1 ; x\n" * 5000,
    "llama-server " + "–x " * 1900,
    "llama-server –" + "‑" * 60_000,
    "sudo -u " * 7000 + "llama-server",
    "services:\n" + "  s:\n    image: vllm/vllm-openai\n    command: serve m\n" * 900,
]  # fmt: skip


@pytest.mark.parametrize("command", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("kind", [None, "llama.cpp", "vllm", "ollama"])
def test_hostile_text_gives_problems_and_never_an_exception(command: str, kind: str | None) -> None:
    started = time.process_time()
    problems = parse_command(kind, command).problems
    assert time.process_time() - started < MAX_CPU_S
    assert len(problems) <= engines.MAX_PROBLEMS + 1
    for problem in problems:
        assert len(problem.text) < 2000


def test_a_text_beyond_the_limit_is_not_read() -> None:
    parsed = parse_command(None, "llama-server -np 4 " + " " * MAX_COMMAND_CHARS)
    assert [problem.kind for problem in parsed.problems] == ["too-long"]
    assert parsed.settings == {}


WORDS = """llama-server vllm serve ollama docker run -e A=1 python -m -- -np 4 --ctx-size 32k
    --x.y -O3 ' " | { "a": } $( --max-num-seqs=4 -tp sglang.launch_server --tp lms load = # < FROM
    PARAMETER [x] a=1 \\ “ ” ‘ – —np ‑c services: image: command: cmd: CMD ENV [Service]
    ExecStart=llama-server Environment=A=1 ${A} ${A:-4} %A% $(( )) > $ me@x:~$ PS ... [...] llama main
    sudo -u docker-compose compose ``` # set A=1 ^ \\n"""


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(
        st.lists(st.sampled_from([*WORDS.split(), "\n", "\0"]), max_size=20).map(" ".join),
        st.text(max_size=200),
    )
)
@pytest.mark.parametrize("kind", [None, *engines.kinds()])
def test_any_text_is_read_without_an_exception(kind: str | None, text: str) -> None:
    parsed = parse_command(kind, text)
    assert all(use.name == name for name, use in parsed.settings.items())


@pytest.mark.parametrize(
    ("command", "name", "value"),
    [
        ("ollama pull x; OLLAMA_NUM_PARALLEL=2 ollama serve", "num-parallel", 2),
        ("ollama pull x && export OLLAMA_NUM_PARALLEL=2 && ollama serve", "num-parallel", 2),
        ("lms server start --port 1; lms load x --parallel 2", "parallel", 2),
        ("vllm bench serve --model x & vllm serve x --max-num-seqs 2", "max-num-seqs", 2),
        ("llama-cli -m x.gguf -p hi\nllama-server -m x.gguf -np 2", "parallel", 2),
    ],
)
def test_of_several_commands_the_server_is_read(command: str, name: str, value: int) -> None:
    assert parse_command(None, command).settings[name].value == value
