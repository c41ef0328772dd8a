"""Whether llama.cpp will change settings by the free memory (common/fit.cpp, build 11434)."""

from benchspec.lint.arm import Arm

_OFF = ("off", "disabled", "false", "0")


def fits(arm: Arm) -> bool:
    """True when a server fits, by default or as stated, and the split does not forbid it."""
    if arm.kind != "llama.cpp" or not arm.serves or arm.value("split-mode") == "tensor":
        return False
    if "fit" not in arm.settings:
        return arm.stated_in_full
    return str(arm.value("fit")).lower() not in _OFF
