"""Engine adapters: one file per engine, and the table that finds them.

The adapters are imported when asked for, so that the embedded server's own process, which lives in
this package too, does not load an HTTP client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchspec.engines.base import Engine, Launch

OPENAI_KINDS = ("openai", "vllm", "sglang", "ollama", "mlx-lm")


def engine_for(launch: Launch) -> Engine:
    """The adapter of `launch.kind`, not yet started.

    Raises UsageError for a kind that benchspec cannot start or does not know.
    """
    if launch.kind == "llama.cpp":
        from benchspec.engines.llama_cpp import LlamaCpp

        return LlamaCpp(launch)
    if launch.kind in OPENAI_KINDS:
        from benchspec.engines.openai_compatible import OpenAICompatible

        return OpenAICompatible(launch)
    from benchspec.errors import UsageError

    raise UsageError(
        f"An engine of kind {launch.kind!r} cannot be run yet.",
        hint="Start it yourself, and attach to it with kind openai.",
    )
