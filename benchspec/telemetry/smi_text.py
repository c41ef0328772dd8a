"""Other text of nvidia-smi that people save: `--query-gpu` as CSV, and clock event reasons. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LINE_LIMIT = 4000
_UNIT_IN_HEADER = re.compile(r"\s*\[[^\]]*\]$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_REASON = re.compile(r"^\s*(?P<name>[A-Za-z ]+?)\s*:\s*(?P<state>Active|Not Active)\s*$")

REASONS = {
    "SW Power Cap": "throttle_power_cap",
    "HW Slowdown": "throttle_hw_slowdown",
    "SW Thermal Slowdown": "throttle_thermal",
    "HW Thermal Slowdown": "throttle_thermal",
    "HW Power Brake Slowdown": "throttle_power_brake",
}
"""As `nvidia-smi -q -d PERFORMANCE` prints them, below `Clocks Event Reasons` or, on older drivers,
`Clocks Throttle Reasons`; by the name of the counter that means the same."""

_GPU = re.compile(r"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")


def parse_query(lines: Iterable[str]) -> Iterator[dict[str, float | str | None]]:
    """Rows of `nvidia-smi --query-gpu=... --format=csv`, by the names of the header without units.

    A number is a number whether or not its unit follows it; `N/A`, `[N/A]`, `[Not Supported]` and
    the like are None; anything else stays text. A log begins with its header.
    """
    names: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line[:LINE_LIMIT].rstrip("\r\n").split(",")]
        if not names:
            names = [_UNIT_IN_HEADER.sub("", cell) for cell in cells]
        elif len(cells) == len(names):
            yield {name: _value(cell) for name, cell in zip(names, cells, strict=True)}


def _value(cell: str) -> float | str | None:
    if cell in {"", "N/A"} or (cell.startswith("[") and cell.endswith("]")):
        return None
    number, _, unit = cell.partition(" ")
    if _NUMBER.fullmatch(number) and not any(letter.isdigit() for letter in unit):
        return float(number)
    return cell


def parse_reasons(lines: Iterable[str]) -> dict[str, bool]:
    """Which of the limits that matter are set, of those that are listed; a power cap is not heat."""
    found: dict[str, bool] = {}
    for line in lines:
        match = _REASON.match(line[:LINE_LIMIT])
        name = REASONS.get(match["name"]) if match else None
        if match and name is not None:
            found[name] = found.get(name, False) or match["state"] == "Active"
    return found


def reasons_by_device(lines: Iterable[str]) -> dict[str, list[dict[str, bool]]]:
    """What `nvidia-smi -q -d PERFORMANCE` says of each card, look by look (`-l` repeats it).

    Cards are gpu0, gpu1, ... in the order in which they are printed; an excerpt without a line that
    names a card is of gpu0. A look without any reason is left out.
    """
    names: dict[str, str] = {}
    looks: list[tuple[str, list[str]]] = [("gpu0", [])]
    for line in lines:
        card = _GPU.match(line[:LINE_LIMIT])
        if card:
            looks.append((names.setdefault(card[1], f"gpu{len(names)}"), []))
        else:
            looks[-1][1].append(line)
    found: dict[str, list[dict[str, bool]]] = {}
    for device, section in looks:
        if reasons := parse_reasons(section):
            found.setdefault(device, []).append(reasons)
    return found
