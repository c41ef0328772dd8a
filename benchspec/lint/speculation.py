"""Whether an arm speculates, by its flags; and what turns that on in each engine."""

from benchspec.lint.arm import Arm

SWITCH = {
    "llama.cpp": "spec-type",
    "vllm": "speculative-config",
    "sglang": "speculative-algorithm",
    "ollama": "draft-num-predict",
    "mlx-lm": "draft-model",
}
"""Engine kind -> the setting without which the others of speculation do nothing."""


def speculates(arm: Arm) -> bool:
    """True when the stated settings turn speculation on."""
    switch = SWITCH.get(arm.kind, "")
    if arm.kind == "vllm" and (arm.value("spec-method") or arm.value("spec-model")):
        return True
    return str(arm.value(switch)).lower() not in ("none", "false", "0", "")


def stated(arm: Arm) -> list[str]:
    """The settings of speculation that the arm states, in their order."""
    known = arm.knowledge.settings if arm.knowledge else {}
    return [name for name in arm.settings if name in known and "speculation" in known[name].affects]
