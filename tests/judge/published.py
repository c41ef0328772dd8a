"""Published studies, as their authors printed them."""

from __future__ import annotations

from typing import Any

from benchspec.observations.model import (
    ArmObservation,
    LogLine,
    Observations,
    Series,
    Setting,
    Step,
    Transfer,
)
from benchspec.observations.node import Bounds
from benchspec.spec.models import Spec
from tests.judge.world import seen, spec

SLOTS_TABLE = {
    1: (25.35, 22.93, 8.4),
    2: (20.76, 37.48, 10.2),
    4: (13.37, 49.14, 15.6),
    8: (13.16, 49.00, 31.3),
}
"""C -> per-stream tok/s, aggregate tok/s, wall s: llama-server without `-np`, so four slots."""


def four_slots() -> tuple[Spec, Observations]:
    """The plateau at eight requests that was read as a saturated link."""
    steps = [
        Step(
            arm="main",
            concurrency=count,
            stream_tok_s=stream,
            aggregate_tok_s=total,
            wall_s=wall,
            output_forced=True,
            provenance="declared",
        )
        for count, (stream, total, wall) in SLOTS_TABLE.items()
    ]
    steps[-1] = steps[-1].model_copy(update={"completions_s": [15.6] * 4 + [31.3] * 4})
    return spec(), seen(*steps, origin="audit")


SERIAL_TABLE: dict[int, tuple[list[float], float]] = {
    1: ([5.51], 93.0),
    2: ([5.4, 11.0], 93.4),
    4: ([5.5, 11.1, 16.8, 22.5], 91.2),
}
"""N -> completion times in s and aggregate tok/s of forced 512-token answers, told to batch four."""


def serial_engine(**rest: Any) -> tuple[Spec, Observations]:
    """The engine whose requests each reported 86-98 tok/s of themselves."""
    steps = [
        Step(
            arm="main",
            concurrency=count,
            completions_s=ends,
            aggregate_tok_s=total,
            tokens_per_request=512,
            output_forced=True,
            provenance="declared",
            self_reported_tok_s=350 if count == 4 else None,
        )
        for count, (ends, total) in SERIAL_TABLE.items()
    ]
    engine = {"kind": "openai", "attach": "http://127.0.0.1:1", "slots": 4}
    observations = seen(*steps, origin="audit")
    arm = {
        "main": {
            "settings": [Setting(name="batching", asked=4, asked_source="command line")],
            "log": [
                LogLine(
                    effect="refused",
                    setting="batching",
                    text="WARNING: batching is not available for this hybrid architecture",
                )
            ],
        }
    }
    return spec(engine=engine, **rest), Observations(**{**observations.model_dump(), "arms": arm})


CARDS = [
    {
        "id": f"gpu{i}",
        "name": "A100-class",
        "memory_bandwidth": "1555 GB/s",
        "source": "datasheet",
        "share": share,
    }
    for i, share in enumerate((0.33, 0.33, 0.34))
]
NARROW = {
    "devices": CARDS,
    "links": [
        {"between": ["gpu0", "gpu1"], "gen": 2, "lanes": 4, "measured": "1.627 GB/s"},
        {"between": ["gpu1", "gpu2"], "gen": 2, "lanes": 4, "measured": "1.627 GB/s"},
    ],
}
SPARSE = {
    "parameters": {"total": 320e9, "active": 18e9},
    "bits_per_weight": 3.01,
    "experts": {"count": 288, "used": 8},
}


def three_cards(**rest: Any) -> tuple[Spec, Observations]:
    """Three cards that each read 33 %, a narrow link between them, and the sweep over the slots."""
    _, table = four_slots()
    single = {"decode_tok_s": 24.39, "round_ms": 39.2}
    steps = [s.model_copy(update=single) if s.concurrency == 1 else s for s in table.steps]
    used = [
        Series(
            counter="utilization",
            unit="%",
            arm="main",
            device=f"gpu{i}",
            phase="decode",
            interval_s=1.0,
            mean=mean,
            counts=[18],
        )
        for i, mean in enumerate((33.2, 34.6, 31.3))
    ]
    hop = Transfer(
        arm="main",
        bytes_per_token=65536,
        crossings=2,
        prefill_tokens=512,
        provenance="bound",
        source="16,384 x 4 B",
    )
    observed = seen(*steps, origin="audit", series=used, transfers=[hop])
    return spec(hardware=NARROW, model=SPARSE, **rest), observed


PAIR = {
    "devices": [{"id": "gpu0", "name": "2080 Ti"}, {"id": "gpu1", "name": "2080 Ti"}],
    "links": [{"between": ["gpu0", "gpu1"], "kind": "pcie", "bandwidth": "15750 MB/s"}],
}
RATES = {
    "A": (24.1, 567.3),
    "B": (25.6, 944.8),
    "C": (37.7, 844.9),
    "C2": (44.3, 797.9),
}
"""Arm -> decode tok/s, prefill tok/s."""

TRAFFIC: list[tuple[str, str, str, float, tuple[float, float], float, list[int]]] = [
    ("A", "decode", "gpu0", 31, (26, 38), 23, [10, 10, 6]),
    ("A", "prefill", "gpu0", 10, (9, 45), 6, [21, 22, 22]),
    ("B", "decode", "gpu0", 22, (21, 26), 5, [6, 8, 6]),
    ("B", "decode", "gpu1", 22, (22, 29), 34, [6, 8, 6]),
    ("B", "prefill", "gpu0", 33, (10, 99), 3, [13, 14, 13]),
    ("B", "prefill", "gpu1", 110, (14, 117), 108, [13, 14, 13]),
    ("C", "decode", "gpu0", 115, (51, 175), 56, [5, 4, 6]),
    ("C", "decode", "gpu1", 63, (48, 72), 50, [5, 4, 6]),
    ("C", "prefill", "gpu0", 1038, (1033, 1176), 1265, [14, 15, 15]),
    ("C", "prefill", "gpu1", 1052, (1030, 1087), 1240, [14, 15, 15]),
    ("C2", "decode", "gpu0", 97, (86, 235), 154, [4, 6, 5]),
    ("C2", "decode", "gpu1", 195, (182, 209), 245, [4, 6, 5]),
    ("C2", "prefill", "gpu0", 1071, (989, 1169), 1118, [15, 15, 14]),
    ("C2", "prefill", "gpu1", 1064, (1048, 1335), 1215, [15, 15, 13]),
]
"""Arm, phase, device, received MB/s (median, range over three repeats), sent MB/s, samples."""

ARMS = [
    {"id": "A", "engine": {"flags": {"split-mode": "none"}}},
    {"id": "B", "engine": {"flags": {"split-mode": "layer"}}, "control_for": "C"},
    {"id": "C", "engine": {"flags": {"split-mode": "tensor"}}, "control_for": "C2"},
    {
        "id": "C2",
        "engine": {
            "flags": {
                "split-mode": "tensor",
                "spec-type": "draft-mtp",
                "spec-draft-n-max": 3,
            }
        },
    },
]


def all_reduce(**rest: Any) -> tuple[Spec, Observations]:
    """What the all-reduce of a tensor split costs on PCIe, with the layer split as control."""
    steps = [
        Step(arm=arm, concurrency=1, decode_tok_s=decode, prefill_tok_s=prefill)
        for arm, (decode, prefill) in RATES.items()
    ]
    series = []
    for arm, phase, device, rx, (low, high), tx, counts in TRAFFIC:
        place = {"arm": arm, "phase": phase, "device": device, "unit": "MB/s", "counts": counts}
        series.append(
            Series.model_validate(
                {**place, "counter": "pcie-rx", "mean": rx, "range": Bounds(low=low, high=high)}
            )
        )
        series.append(Series.model_validate({**place, "counter": "pcie-tx", "mean": tx}))
    observed = Observations(
        origin="audit",
        arms={arm: ArmObservation() for arm in RATES},
        steps=steps,
        series=series,
    )
    model = {"layers": 64, "hidden_size": 5120, "size": "16.8 GB"}
    sections = {"hardware": PAIR, "model": model, "arms": ARMS} | rest
    return spec(**sections), observed
