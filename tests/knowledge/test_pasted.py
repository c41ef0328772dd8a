"""What stands around a command line where people paste it from, and what is read inside it."""

from __future__ import annotations

import pytest

from benchspec.knowledge.engines import parse_command


def values(text: str, kind: str | None = None) -> dict[str, object]:
    return {name: use.value for name, use in parse_command(kind, text).settings.items()}


def complaints(text: str, kind: str | None = None) -> list[str]:
    return [problem.kind for problem in parse_command(kind, text).problems]


@pytest.mark.parametrize(
    "text",
    [
        "$ llama-server -np 4",
        "(base) [me@box dir]$ llama-server -np 4",
        "(env) (base) root@gpu-0:~/x# llama-server -np 4",
        "~/llm/x$ llama-server -np 4",
        "➜  x git:(main) llama-server -np 4",
        "➜  x git:(main) ✗ llama-server -np 4",
        "❯ llama-server -np 4",
        r"PS C:\Users\me> llama-server -np 4",
        r"C:\llama> llama-server.exe -np 4",
        r"C:\llama>C:\llama\llama-server.exe -np 4",
        "> llama-server -np 4",
        "> llama-server \\\n>   -np 4",
        "# llama-server -np 4",
        "```bash\nllama-server -np 4\n```",
        "`llama-server -np 4`",
        "llama serve -np 4",
        "llama.exe server -np 4",
        r"build\bin\Release\llama-server.exe -np 4",
        r'& "C:\Program Files\x\llama-server.exe" -np 4',
        r'start "a title" /affinity 0x5 /b llama-server.exe -np 4',
        "cmd /c llama-server -np 4",
        "sudo -u llama-server -H env A=1 /opt/llama-server -np 4",
        "systemd-run --user --unit llama-server llama-server -np 4",
        "tmux new -s llama-server -d llama-server -np 4",
        "apptainer exec --nv x.sif llama-server -np 4",
        "docker run -v/m:/m -p8080:8080 -it llama.cpp:rocm llama-server -np 4",
        "docker compose -f x.yml run --rm llama.cpp -np 4",
        "docker run ghcr.io/ggml-org/llama.cpp:full --server -np 4",
        '["llama-server", "-np", "4"]',
        "args = ['llama-server', '-np', '4']",
        'FROM x\nENTRYPOINT ["/app/llama-server"]\nCMD ["-np", \\\n "4"]',
        "FROM x\nCMD llama-server -np 4",
        "[Unit]\nDescription=llama.cpp server - 4\n[Service]\nExecStart=/x/llama-server \\\n -np 4\n",
        "services:\n  a:\n    image: x/llama.cpp:server\n    command: -np 4\n",
        "services:\n  a:\n    build: .\n    command: ['llama-server', '-np', '4']\n",
        "services:\n  a:\n    image: x\n    entrypoint: /app/llama-server\n    command: [-np, '4']\n",
        "containers:\n- image: x\n  command: [llama-server]\n  args: ['-np', '4']\n",
        "models:\n  a:\n    cmd: |\n      llama-server\n      # slots\n      -np 4\n",
        "macros:\n  s: llama-server -np\nmodels:\n  a: {cmd: '${s} 4'}\n",
        "llama-server\n-np 4",
        "N=4\nllama-server -np $N",
        'export N="4" && llama-server -np "${N}"',
        "set N=4\nllama-server.exe -np %N%",
        '$N = "4"\nllama-server.exe -np $N',
        "llama-server -np ${SLOTS:-4}",
    ],
)
def test_the_line_is_read_inside(text: str) -> None:
    parsed = parse_command(None, text)
    assert parsed.engine == "llama.cpp"
    assert {name: use.value for name, use in parsed.settings.items()} == {"parallel": 4}
    assert parsed.problems == []


@pytest.mark.parametrize(
    "text",
    [
        "llama-server –np 4 —ctx-size 8192",
        "llama-server −np 4 ‑‑ctx‑size 8192",
        "llama-server -np “4” -c ‘8192’",
        "llama-server\u00a0-np\u00a04 --ctx_size 8192",
    ],
)
def test_what_a_web_page_made_of_it_is_read_and_said(text: str) -> None:
    assert values(text) == {"parallel": 4, "ctx-size": 8192}
    assert complaints(text) == ["typographic"]


@pytest.mark.parametrize(
    ("text", "kind", "settings"),
    [
        ("FROM x\nPARAMETER num_ctx 4096\n", "ollama", {"model": "x", "num-ctx": 4096}),
        ("[m]\nctx-size = 4096\nngl = 9\n", "llama.cpp", {"ctx-size": 4096, "n-gpu-layers": 9}),
        ('[Service]\nEnvironment="OLLAMA_NUM_PARALLEL=4"\n', "ollama", {"num-parallel": 4}),
        ("export LLAMA_ARG_CTX_SIZE=4096", "llama.cpp", {"ctx-size": 4096}),
        ("python main.py --model-name m --cache-mode Q8", "tabbyapi",
         {"model-name": "m", "cache-mode": "Q8"}),
        ("services:\n  o: {image: ollama/ollama, environment: [OLLAMA_NUM_PARALLEL=2]}", "ollama",
         {"num-parallel": 2}),
        ("- image: vllm/vllm-openai\n  args: [--model, m]\n  env: [{name: VLLM_LOGGING_LEVEL, value: INFO}]",
         "vllm", {"VLLM_LOGGING_LEVEL": "INFO", "model": "m"}),
    ],
)  # fmt: skip
def test_the_engine_shows_in_the_text_itself(
    text: str, kind: str, settings: dict[str, object]
) -> None:
    assert parse_command(None, text).engine == kind
    assert values(text) == settings


def test_a_dockerfile_is_no_modelfile_and_a_unit_no_preset() -> None:
    assert parse_command(None, "FROM ubuntu\nRUN apt-get install x\n").engine is None
    assert parse_command(None, "[Service]\nExecStart=/bin/true\n").engine is None


def test_only_variables_that_the_engine_sees_are_a_problem() -> None:
    line = 'docker run -v $HOME/m:/m -p $PORT:80 -e HF_TOKEN=$HF_TOKEN vllm/vllm-openai --model "$M" > $LOG'
    problems = parse_command(None, line).problems
    assert [each.flag for each in problems if each.kind == "not-expanded"] == ["$M"]


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve m --port $PORT --max-num-seqs $((2 * $N))",
        "vllm serve m --port <port>",
        "llama-server -c ${CTX} -np $(nproc)",
        r"llama-server.exe -c %CTX% -m C:\x.gguf",
        """vllm serve m --speculative-config '{"model": <name>}'""",
    ],
)
def test_a_value_that_stands_for_another_is_not_called_invalid(line: str) -> None:
    assert set(complaints(line)) == {"not-expanded"}


def test_what_an_author_left_out_is_no_argument() -> None:
    assert values("llama-server [...] -np 4 ...") == {"parallel": 4}
    assert complaints("llama-server [...] -np 4 ...") == ["abridged"]


def test_a_variable_cannot_grow_without_end() -> None:
    doubling = "A=x\n" + "A=$A$A\n" * 64 + "llama-server -m $A"
    assert len(str(values(doubling)["model"])) < 10_000


def test_backslashes_stay_where_windows_is_and_go_on_where_it_is_not() -> None:
    assert values(r"llama-server.exe -m models\x.gguf")["model"] == r"models\x.gguf"
    assert values("llama-server -m a\\ b.gguf")["model"] == "a b.gguf"
    assert values("./llama-server.exe \\\n -m /mnt/c/x.gguf")["model"] == "/mnt/c/x.gguf"


def test_a_list_under_a_label_and_a_link_for_an_address_are_read() -> None:
    assert values('Startup parameters:["vllm","serve","m","--port","1"]')["port"] == 1
    assert values("vllm serve m --host [0.0.0.0](http://0.0.0.0/)")["host"] == "0.0.0.0"


def test_a_space_in_a_set_of_windows_sets_nothing() -> None:
    line = "C:\\>set OLLAMA_NUM_PARALLEL = 4\nC:\\>ollama serve"
    assert values(line) == {}
    assert complaints(line) == ["env-ignored"]
    assert values(line.replace(" = ", "="))["num-parallel"] == 4


def test_a_variable_before_a_client_does_not_reach_the_server() -> None:
    assert complaints("OLLAMA_CONTEXT_LENGTH=64000 ollama run m") == ["env-ignored"]
    assert complaints("OLLAMA_HOST=10.0.0.2 ollama run m") == []
    assert complaints("OLLAMA_CONTEXT_LENGTH=64000 ollama serve") == []


@pytest.mark.parametrize(
    ("variable", "on", "said"),
    [
        ("VLLM_USE_MODELSCOPE=True", True, []),
        ("VLLM_USE_MODELSCOPE=1", False, ["env-ignored"]),
        ("VLLM_ALLOW_LONG_MAX_MODEL_LEN=1", True, []),
        ("VLLM_SKIP_P2P_CHECK=true", False, ["env-ignored"]),
        ("VLLM_ROCM_USE_AITER=0", False, []),
        ("VLLM_ROCM_USE_AITER=$X", "$X", ["not-expanded"]),
    ],
)
def test_variables_that_are_on_for_certain_words(
    variable: str, on: object, said: list[str]
) -> None:
    line = f"{variable} vllm serve m"
    assert values(line)[variable.partition("=")[0]] == on
    assert complaints(line) == said


@pytest.mark.parametrize(
    "line",
    [
        "kubectl run vllm --image=vllm/vllm-openai:v1 --port=8000 -- m --max-num-seqs 4",
        "kubectl run x --env=A=1 --image vllm/vllm-openai --command -- vllm serve m --max-num-seqs 4",
        "torchrun --nproc-per-node=2 -m vllm.entrypoints.openai.api_server --model m --max-num-seqs 4",
        "Start-Process -FilePath vllm -ArgumentList 'serve m --max-num-seqs 4' -NoNewWindow",
        "srun -N 1 --mpi=pmix bash -c 'vllm serve m --max-num-seqs 4'",
    ],
)
def test_what_starts_a_server_for_another(line: str) -> None:
    assert values(line) == {"model": "m", "max-num-seqs": 4}


def test_a_list_whose_commas_are_ambiguous_is_not_guessed() -> None:
    line = 'Start-Process llama-server -ArgumentList "-m","x.gguf","-ts","1,1"'
    assert parse_command(None, line).engine is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vllm serve m \\  # the model\n  --max-num-seqs 4", ["typographic"]),
        ("vllm serve m \\\n  # --enforce-eager \\\n  --max-num-seqs 4", ["typographic"]),
        ("vllm serve m\n  # the slots\n  --max-num-seqs 4", []),
        ("CMD vllm serve m \\\n  # --enforce-eager \\\n  --max-num-seqs 4", []),
        ("$ vllm serve m \\\n>   --max-num-seqs 4", []),
        ('"args": ["vllm", "serve", "m",\n "--max-num-seqs", "4"],', []),
    ],
)
def test_lines_that_go_on_and_what_a_shell_would_not_read(text: str, said: list[str]) -> None:
    assert values(text) == {"model": "m", "max-num-seqs": 4}
    assert complaints(text) == said


def test_a_value_on_the_line_below_its_flag_is_read() -> None:
    text = 'vllm serve m --speculative-config\n\'{"method":"mtp"}\' --port 1'
    assert values(text)["speculative-config"] == {"method": "mtp"}
    assert values(text)["port"] == 1


K8S = "containers:\n- image: vllm/vllm-openai\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (K8S + "  args: [m, --max-num-seqs=$(N)]\n  env: [{name: N, value: '4'}]\n", []),
        (K8S + "  command: ['vllm serve m --max-num-seqs 4']\n", ["typographic"]),
        (K8S + "  command: [sh, -c]\n  args: ['vllm serve m --max-num-seqs 4']\n", []),
        (K8S + "  args: [m, --max-num-seqs=$(N)]\n", ["not-expanded"]),
    ],
)
def test_what_kubernetes_makes_of_words(text: str, said: list[str]) -> None:
    assert complaints(text) == said
    assert said == ["not-expanded"] or values(text) == {"model": "m", "max-num-seqs": 4}


def test_a_proxy_before_the_server_is_passed_over() -> None:
    text = "lmdeploy serve proxy --server-port 1\nlmdeploy serve api_server m --tp 2"
    assert values(text) == {"model": "m", "tp": 2}
    assert complaints("lmdeploy serve proxy --server-port 1") == ["not-a-server"]
