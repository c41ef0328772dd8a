"""Whether an engine's prefix cache is off, and whether the study is about that cache."""

from benchspec.lint.arm import Arm
from benchspec.lint.subject import Subject

SWITCH: dict[str, tuple[str, bool]] = {
    "llama.cpp": ("cache-prompt", False),
    "vllm": ("enable-prefix-caching", False),
    "sglang": ("disable-radix-cache", True),
}
"""Engine kind -> (setting, the value that turns the prefix cache off). It is on by default in all of
them, and in Ollama and mlx-lm, which cannot turn it off."""


def cache_is_off(arm: Arm) -> bool:
    """True when the arm states that prefixes are not reused; unknown engines count as not off."""
    setting, off = SWITCH.get(arm.kind, ("", True))
    return bool(setting) and arm.value(setting) is off


def studies_cache(subject: Subject) -> bool:
    """True when the spec asks what the prefix cache does."""
    asked = {"prefix-cache", "cached_tokens"}
    return "warm" in subject.spec.load.cache or any(t.uses in asked for t in subject.tests)
