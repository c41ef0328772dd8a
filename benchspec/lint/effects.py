"""Performance features, the settings that turn them on, and the checks that show whether they work."""

from typing import NamedTuple

from benchspec.lint.arm import Arm
from benchspec.lint.subject import Subject


class Effect(NamedTuple):
    """A feature: the settings that turn it on, and the checks or metrics in which it shows."""

    name: str
    settings: tuple[str, ...]
    checks: tuple[str, ...]

    def setting(self, arm: Arm) -> str:
        """The setting by which `arm` turns the feature on, or nothing."""
        return next((name for name in self.settings if _is_on(arm, name)), "")


BATCHING = Effect(
    "batching",
    ("decode-concurrency", "prompt-concurrency", "cont-batching", "num-parallel"),
    ("completion-shape", "queueing", "scaling", "slots-moved"),
)
CACHE = Effect(
    "prefix cache",
    ("enable-prefix-caching", "cache-reuse", "prompt-cache-size", "enable-hierarchical-cache"),
    ("prefix-cache", "cached_tokens"),
)
PEER = Effect(
    "peer-to-peer transfers",
    ("GGML_CUDA_P2P", "NCCL_P2P_LEVEL", "enable-p2p-check"),
    ("link-load", "link-share", "expected-traffic", "traffic-symmetry"),
)


def shown_by(effect: Effect, subject: Subject) -> bool:
    """True when a hypothesis uses a check in which the feature shows."""
    return any(tested.uses in effect.checks for tested in subject.tests)


_OFF = frozenset({"none", "false", "0", "off"})


def _is_on(arm: Arm, name: str) -> bool:
    stated = arm.value(name)
    if stated is None and arm.engine:
        stated = arm.engine.env.get(name)
    alone = "concurrency" in name or name == "num-parallel"  # 1 is one at a time
    return str(stated).lower() not in _OFF and not (alone and str(stated) == "1")
