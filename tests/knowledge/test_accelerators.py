"""Accelerators are found by the names that people and drivers use, and never guessed."""

from __future__ import annotations

import pytest

from benchspec.knowledge import accelerators


@pytest.mark.parametrize(
    ("name", "gb_s"),
    [
        ("NVIDIA GeForce RTX 3090", 936.0),
        ("rtx 3090", 936.0),
        ("RTX3090", 936.0),
        ("NVIDIA A100-SXM4-80GB", 2039),
        ("A100 80GB PCIe", 1935),
        ("A100 40GB", 1555),
        ("Tesla P40", 347.1),
        ("RTX 3060 12GB", 360.0),
        ("MI300X", 5300),
        ("Apple M2 Ultra", 800),
        ("M2 Ultra", 800),
        ("Intel(R) Arc(TM) A770 Graphics", 512.0),
        ("cmp-170hx-8gb", 1493.0),
    ],
)
def test_a_name_finds_its_bandwidth(name: str, gb_s: float) -> None:
    found = accelerators.find(name)
    assert found is not None
    assert found.memory_bandwidth_gb_s == gb_s
    assert found.source


@pytest.mark.parametrize("name", ["A100", "RTX 3060", "V100", "rtx", "", "Voodoo 2", "x" * 10_000])
def test_a_name_that_could_be_several_or_none_is_not_guessed(name: str) -> None:
    assert accelerators.find(name) is None


def test_memory_tells_boards_of_one_name_apart() -> None:
    small, large = accelerators.find("RTX 3060", 8), accelerators.find("RTX 3060", 11.76)
    assert small is not None
    assert large is not None
    assert (small.id, large.id) == ("rtx-3060-8gb", "rtx-3060-12gb")


def test_candidates_say_what_a_name_could_mean() -> None:
    assert [each.id for each in accelerators.candidates("A100")] == [
        *("a100-pcie-40gb", "a100-sxm4-40gb", "a100-pcie-80gb", "a100-sxm4-80gb")
    ]


def test_every_accelerator_has_a_source_and_sane_figures() -> None:
    table = accelerators.everything()
    assert len(table) == 159
    assert len({each.id for each in table}) == 159
    for each in table:
        assert each.source, each.id
        assert each.memory_bandwidth_gb_s is None or 50 < each.memory_bandwidth_gb_s < 20_000
        assert each.pcie_lanes in (None, 4, 8, 16), each.id
        assert accelerators.find(each.id) == each, each.id


PER_PIN_GBIT_S = {"GDDR6": (14, 20.2), "HBM2": (1.4, 2.5), "HBM2e": (3.1, 3.3)}


def test_a_bus_and_a_bandwidth_give_a_rate_that_such_memory_has() -> None:
    wide = [each for each in accelerators.everything() if each.memory_bus_bits]
    assert len(wide) == 24
    for each in wide:
        least, most = PER_PIN_GBIT_S[each.memory_type]
        rate = (each.memory_bandwidth_gb_s or 0) * 8 / (each.memory_bus_bits or 1)
        assert least <= rate <= most, each.id
