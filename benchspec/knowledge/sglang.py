"""SGLang 0.5.23: its settings; its parser is plain argparse, so unique beginnings of flags count.

That is how `--tp 2` works: it abbreviates `--tp-size`, the short name of `--tensor-parallel-size`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading, Removed

_SETTINGS = table.load("sglang")

VERSION = "0.5.23"  # what the table describes

REMOVED = (
    Removed(
        ("--cuda-graph-max-bs",),
        "--cuda-graph-max-bs-decode",
        takes_value=True,
        means=("cuda-graph-max-bs-decode", None),
    ),
    Removed(
        ("--cuda-graph-bs",),
        "--cuda-graph-bs-decode",
        takes_value=True,
        many=True,
        means=("cuda-graph-bs-decode", None),
    ),
    Removed(
        ("--speculative-draft",),
        "--speculative-draft-model-path",
        takes_value=True,
        means=("speculative-draft-model-path", None),
        note="its beginning was unique once",
    ),
    Removed(("--enable-ep-moe",), "--ep-size"),
    Removed(
        ("--enable-deepep-moe",), "--moe-a2a-backend deepep", means=("moe-a2a-backend", "deepep")
    ),
    Removed(("--enable-flashinfer-mla",), "--attention-backend flashinfer"),
    Removed(("--disable-flashinfer",), "--attention-backend triton"),
    Removed(("--disable-mla",)),
    Removed(
        ("--enable-flashmla",),
        "--attention-backend flashmla",
        means=("attention-backend", "flashmla"),
    ),
    Removed(
        ("--schedule-heuristic",),
        "--schedule-policy",
        takes_value=True,
        means=("schedule-policy", None),
    ),
    Removed(("--keep-mm-feature-on-device",), seen_in="0.5.11"),  # sgl-project/sglang#25673
    Removed(("--enable-piecewise-cuda-graph",), note="see --cuda-graph-backend-prefill"),
    Removed(("--piecewise-cuda-graph-compiler",), takes_value=True),
    Removed(("--enable-overlap-schedule",), note="it is on unless --disable-overlap-schedule"),
    Removed(("--disable-disk-cache", "--disable-regex-jump-forward", "--disable-jump-forward")),
)

_DIALECT = arguments.Dialect(
    "sglang",
    _SETTINGS,
    REMOVED,
    config_flag="config",
    version=VERSION,
    deprecated={
        "disable-cuda-graph": "write --cuda-graph-backend-decode disabled and the same for prefill",
        "enable-dp-attention": "write --attn-dp-size; this reading is refused after 2026",
        "monokernel-backend": "write --enable-amd-monokernel",
        "enable-flashinfer-allreduce-fusion": "write --flashinfer-allreduce-fusion-backend auto",
        "disable-fast-image-processor": "write --image-processor-backend pil",
        "grpc-mode": "write --smg-grpc-mode",
    },
)


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `sglang serve ...` or `python -m sglang.launch_server ...`."""
    return arguments.parse(_DIALECT, arguments.after(argv, "serve"), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="sglang",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="sglang",
    removed=REMOVED,
    default_slots=None,
    config_files=("the YAML file given with --config",),
    version=VERSION,
)
