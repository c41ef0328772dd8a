"""Which program, Python module and container image belongs to which engine."""

from __future__ import annotations

import re
from collections.abc import Sequence

PROGRAMS = {
    "llama-server": "llama.cpp",
    "server": "llama.cpp",
    "llama-cli": "llama.cpp",
    "main": "llama.cpp",
    "llama-completion": "llama.cpp",
    "llama-bench": "llama.cpp",
    "llama-batched-bench": "llama.cpp",
    "llama-perplexity": "llama.cpp",
    "llama-speculative": "llama.cpp",
    "llama-speculative-simple": "llama.cpp",
    "llama-parallel": "llama.cpp",
    "llama-mtmd-cli": "llama.cpp",
    "llama-fit-params": "llama.cpp",
    "llama-embedding": "llama.cpp",
    "vllm": "vllm",
    "sglang": "sglang",
    "ollama": "ollama",
    "mlx_lm": "mlx-lm",
    "mlx_lm.server": "mlx-lm",
    "lms": "lm-studio",
    "text-generation-launcher": "tgi",
    "text-generation-server": "tgi",
    "trtllm-serve": "tensorrt-llm",
    "lmdeploy": "lmdeploy",
    "koboldcpp": "koboldcpp",
    "llama-swap": "llama-swap",
    "tabbyapi": "tabbyapi",
}

MODULES = {
    "vllm.entrypoints.openai.api_server": "vllm",
    "vllm.entrypoints.api_server": "vllm",
    "vllm.entrypoints.cli.main": "vllm",
    "sglang.launch_server": "sglang",
    "sglang.cli.main": "sglang",
    "mlx_lm.server": "mlx-lm",
    "lmdeploy.cli": "lmdeploy",
    "tensorrt_llm.commands.serve": "tensorrt-llm",
    "koboldcpp": "koboldcpp",
}

# An image whose name contains the first; what its entry point runs before the given arguments.
IMAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("llama.cpp:light", ("llama-cli",)),
    ("llama.cpp", ("llama-server",)),
    ("llama-swap", ("llama-swap",)),
    ("vllm-openai", ("vllm", "serve")),
    ("vllm", ("vllm", "serve")),
    ("sglang", ("sglang", "serve")),
    ("ollama", ("ollama", "serve")),
    ("text-generation-inference", ("text-generation-launcher",)),
    ("lmdeploy", ("lmdeploy",)),
    ("koboldcpp", ("koboldcpp",)),
    ("tabbyapi", ("tabbyapi",)),
)

# The entry script of llama.cpp's `full` images takes the tool as its first argument.
_FULL_IMAGE_TOOLS = {
    "--server": "llama-server",
    "-s": "llama-server",
    "--run": "llama-cli",
    "-r": "llama-cli",
    "--bench": "llama-bench",
    "-b": "llama-bench",
    "--perplexity": "llama-perplexity",
    "-p": "llama-perplexity",
    "--run-legacy": "llama-completion",
    "-l": "llama-completion",
}

# llama.cpp's one program for everything: `llama serve`, `llama bench`.
ONE_FOR_ALL = "llama"
SUBCOMMANDS = {
    "serve": "llama-server",
    "server": "llama-server",
    "cli": "llama-cli",
    "chat": "llama-cli",
    "completion": "llama-completion",
    "bench": "llama-bench",
}

# What authors write where they leave something out.
GAP = re.compile(
    r"\[?(?:\.{3}|…)\]?|<(?:your |other |more )?(?:flags|args|options)[^<>]*>"
    r"|\[(?:options|args|flags)\]",
    re.IGNORECASE,
)

# Files that an engine reads itself, by what shows that a text is one: a Modelfile has instructions
# that a Dockerfile has not; a preset has sections, or keys of llama.cpp.
OWN_FILES = {
    "ollama": re.compile(r"^[ \t]*(?:PARAMETER|TEMPLATE|ADAPTER|MESSAGE)[ \t]", re.MULTILINE),
    "llama.cpp": re.compile(r"^[ \t]*(?:\[[^\]\n]+\]|[a-z][\w-]*[ \t]*=[ \t]*\S+)", re.MULTILINE),
}
# Variables that engines and the libraries below them read, by how their names begin.
READ_BY_ENGINES = re.compile(
    r"(?:LD|OLLAMA|LLAMA|GGML|VLLM|SGLANG|SGL|LMDEPLOY|TLLM|TRTLLM|CUDA|NVIDIA|NCCL|HIP|HSA|ROC|GPU|OMP|MKL"
    r"|KMP|TORCH|PYTORCH|TRITON|GOMP|MALLOC|VK|GLOO)_|[A-Z_]*VISIBLE_DEVICES$"
)
# Variables that only one engine reads.
VARIABLES = {"OLLAMA_": "ollama", "LLAMA_ARG_": "llama.cpp", "VLLM_": "vllm", "SGLANG_": "sglang"}

# Options of `docker` and `docker compose` before `run` whose value is a word of its own.
COMPOSE_VALUES = frozenset({
    "-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--context", "-c", "-H", "--host",
    "--project-directory",
})  # fmt: skip
# Flags by which a script called main.py is TabbyAPI's.
TABBY_FLAGS = frozenset({
    "--model-name", "--cache-mode", "--cache-size", "--max-seq-len", "--gpu-split-auto", "--gpu-split",
    "--draft-model-name", "--inline-model-loading", "--disable-auth",
})  # fmt: skip

CONTAINERS = frozenset({"docker", "podman", "nerdctl", "docker-compose"})
CLUSTERS = frozenset({"kubectl", "oc", "k3s", "microk8s"})
STARTERS = frozenset({"start-process", "saps"})
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish", "cmd", "pwsh", "powershell"})
WRAPPERS = frozenset({
    "sudo", "doas", "env", "nohup", "time", "exec", "setsid", "nice", "ionice", "taskset",
    "numactl", "timeout", "stdbuf", "chrt", "caffeinate", "systemd-run", "srun", "mpirun",
    "mpiexec", "nsys", "ncu", "perf", "strace", "uv", "uvx", "poetry", "pipx", "conda", "mamba",
    "micromamba", "pixi", "hatch", "pdm", "rye", "xvfb-run", "screen", "tmux", "gdb", "start",
    "torchrun", "accelerate", "watch", "script", "unbuffer", "command", "builtin", "mise",
    "direnv", "nix", "steam-run", "toolbox", "distrobox", "proxychains", "ssh", "su", "runuser",
    "wsl", "kubectl", "oc", "trtllm-llmapi-launch", "ray", "prime-run", "gpu-run", "chpst", "setpriv",
    "apptainer", "singularity", "enroot", "shifter", "trickle", "systemd-inhibit",
    "cgexec", "jetson-containers", "flock", "busybox",
})  # fmt: skip
# Options of wrappers whose value may be named like a program.
WRAPPER_VALUES = frozenset({
    "--with", "--from", "--name", "-n", "-p", "--extra", "--group", "-J", "-u", "--user", "-g", "-s",
    "-S", "-t", "-U", "--unit", "--title", "--chdir", "-D", "-L", "-N",
})  # fmt: skip
# Scripts with everyday names, told apart by the engine that is said to be run.
SCRIPTS = {"main.py": "tabbyapi", "start.py": "tabbyapi", "koboldcpp.py": "koboldcpp"}
PYTHON = re.compile(r"(?:python|pypy)(?:w|\d(?:\.\d+)*)?")

# Docker options that take no value; every other option takes one.
DOCKER_LETTERS = "ditqPT"
DOCKER_SWITCH = re.compile(
    r"--(?:detach|interactive|tty|rm|init|privileged|publish-all|read-only|quiet|help"
    r"|oom-kill-disable|no-healthcheck|sig-proxy|disable-content-trust|replace|tls-verify"
    r"|no-deps|service-ports|build|remove-orphans|use-aliases|no-TTY)"
)


def base_name(word: str) -> str:
    """The program's name without folder and `.exe`, whatever the slashes."""
    name = re.split(r"[/\\]", word)[-1]
    return name[:-4] if name.lower().endswith(".exe") else name


def engine_of(program: str) -> str | None:
    """The engine of a program by its base name; koboldcpp's carries its build in the name."""
    if program.lower().startswith("koboldcpp"):
        return "koboldcpp"
    return PROGRAMS.get(program)


_SERVER_COMMAND = {"ollama": "serve", "vllm": "serve", "lm-studio": "load"}


def serves(engine: str, program: str, argv: Sequence[str]) -> bool:
    """Whether this is what serves, among an engine's programs and sub-commands; for LM Studio what
    loads the model, which is where its settings are."""
    if engine == "llama.cpp":
        return program in ("llama-server", "server")
    if engine == "lmdeploy":
        return program in MODULES or tuple(argv[:2]) == ("serve", "api_server")
    word = _SERVER_COMMAND.get(engine)
    return word is None or program in MODULES or tuple(argv[:1]) == (word,)


def script_module(path: str) -> str:
    """A script's path as the module it is, as far as that is known: `.../vllm/x.py` -> `vllm.x`."""
    dotted = re.sub(r"\.py$", "", path.replace("\\", "/")).strip("/").replace("/", ".")
    return next((name for name in MODULES if dotted == name or dotted.endswith(f".{name}")), dotted)


def image_entry(
    image: str, args: Sequence[str]
) -> tuple[str, tuple[str, ...], Sequence[str]] | None:
    """What a known image runs: the program, its first arguments, and which of `args` follow them."""
    name = image.lower()
    entry = next((entry for part, entry in IMAGES if part in name), None)
    if entry is None:
        return None
    if entry[0] == "llama-server" and args and ":full" in name:
        return _FULL_IMAGE_TOOLS.get(args[0], "llama-server"), (), args[1:]
    if entry == ("ollama", "serve") and args:
        return "ollama", (), args
    return entry[0], entry[1:], args
