"""Two published sweeps, as their authors printed them: four default slots, and a serial engine."""

from __future__ import annotations

from typing import Any

from benchspec.observations.model import LogLine, Observations, Setting, Step
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
