"""What the drivers said of the devices stands in the report, with where each bandwidth is from."""

from __future__ import annotations

from benchspec.observations.model import ArmObservation, Observations
from benchspec.observations.node import SettingValue
from tests.report import samples

CARD: dict[str, SettingValue] = {
    "gpu0.name": "Tesla PG500-216",
    "gpu0.pci_bus": "0000:01:00.0",
    "gpu0.bandwidth_gb_s": 1133.6,
    "gpu0.memory_used_mib": 18_890,
    "gpu0.path_to_gpu1": "PHB",
    "gpu0.peer_read_to_gpu1": "ok",
    "gpu0.nvlinks_to_gpu1": 2,
    "gpu0.something_new": True,
    "build": "b1",
}


def rows(**arms: dict[str, SettingValue]) -> list[tuple[str, str]]:
    seen = Observations(arms={arm: ArmObservation(identity=known) for arm, known in arms.items()})
    text = samples.QUICKSTART.read_text("utf-8")
    view = samples.view_of(text, seen, samples.quickstart_verdicts(text), samples.facts(text))
    table = view.setup.devices
    return [] if table is None else [(a.text, b.text) for a, b in table.rows]


def test_a_card_is_said_in_words() -> None:
    assert rows(main=CARD) == [
        (
            "gpu0",
            "Tesla PG500-216, at 0000:01:00.0, 1,134 GB/s [derived: 2 x memory clock x bus width / 8], "
            "18,890 MiB in use when the engine was ready, path to gpu1: PHB, "
            "driver on reading from gpu1: ok, 2 NVLinks to gpu1, something_new yes",
        )
    ]


def test_another_count_of_transfers_stands_in_the_formula() -> None:
    known: dict[str, SettingValue] = {"amd0.memory_transfers": 16, "amd0.bandwidth_gb_s": 959.2}
    ((_, text),) = rows(main=known)
    assert text == "16 transfers a clock, 959.2 GB/s [derived: 16 x memory clock x bus width / 8]"


def test_what_differs_between_arms_is_said_of_both() -> None:
    other: dict[str, SettingValue] = {
        "gpu0.name": "Tesla PG500-216",
        "gpu0.memory_used_mib": 17_752,
    }
    ((_, text),) = rows(a={**other, "gpu0.memory_used_mib": 18_890}, b=other)
    assert text == "Tesla PG500-216, 18,890 / 17,752 MiB in use when the engine was ready"


def test_a_host_alone_is_no_table() -> None:
    assert rows(main={"cpu0.name": "EPYC", "cpu0.cores": 2, "cpu0.memory_gib": 23.5}) == []


def test_nothing_found_is_no_table() -> None:
    assert rows(main={}) == []
