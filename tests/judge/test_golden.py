"""The whole of `verdicts.json` for a run like the quickstart, on a quiet machine.

`python -m tests.judge.test_golden` writes it anew; read the difference before committing it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchspec.observations.model import ArmObservation, Client, Quiet, Setting, Step
from benchspec.spec.models import Spec
from tests.judge.world import hypothesis, seen, spec, sweep, verdicts

GOLDEN = Path(__file__).parent / "golden" / "quickstart.json"

SLOTS = {"four-slots": 4, "one-slot": 1}


def study() -> Spec:
    waits = {
        "metric": "wall_s",
        "at": {"arm": "one-slot", "concurrency": 4},
        "over": {"concurrency": 1},
        "relation": ">=",
        "value": 2,
    }
    queues = {"check": "queueing", "at": {"arm": "four-slots", "concurrency": 8}}
    stairs = {"check": "completion-shape", "at": {"arm": "one-slot", "concurrency": 4}}
    settings = {"check": "effective-settings", "at": {"arm": "four-slots"}}
    return spec(
        arms=[
            {"id": arm, "engine": {"flags": {"parallel": count}}} for arm, count in SLOTS.items()
        ],
        load={"mode": "burst", "concurrency": [1, 2, 4, 8]},
        repeats=3,
        hypotheses=[
            hypothesis("H1", test={**queues, "expect": "queued"}, prediction=1.0),
            hypothesis("H2", test={**stairs, "expect": "staircase"}, prediction=1),
            hypothesis("H3", test=waits, prediction=4, gate={"then": "use four slots"}),
            hypothesis("H4", test={**settings, "expect": "as-asked"}, rests_on=["H2"]),
        ],
        unfinished=["One small model on one machine."],
    )


def steps() -> list[Step]:
    client = Client(
        kernel_stamp_share=1.0,
        coalesced_share=0.0,
        send_lateness_ms_p99=0.3,
        read_lag_ms_p99=0.9,
        events_per_s=60.0,
        ceiling_events_s=20000.0,
        stamp_source="kernel",
    )
    quiet = Quiet(foreign_share=0.02, client_share=0.01, busy_share=0.5)
    every = [s for arm, count in SLOTS.items() for s in sweep(arm, count)]
    return [s.model_copy(update={"client": client, "quiet": quiet}) for s in every]


def judged() -> dict[str, Any]:
    arms = {
        arm: ArmObservation(
            settings=[
                Setting(name="parallel", asked=count, found=count, found_source="/props"),
                Setting(name="ctx-size", asked=None, found=1024, found_source="log"),
            ],
            slots=count,
            slots_source="/props",
            identity={"model_sha256": "b179c952", "build": "b11434"},
        )
        for arm, count in SLOTS.items()
    }
    found = verdicts(study(), seen(*steps(), arms=arms)).model_dump(mode="json")
    return {name: value for name, value in found.items() if name != "benchspec"}


def test_the_verdicts_of_a_quiet_quickstart() -> None:
    found = json.loads(json.dumps(judged()))
    expected = json.loads(GOLDEN.read_text("utf-8"))
    assert found["hypotheses"] == expected["hypotheses"]
    assert {r["check"]: r for r in found["checks"]} == {r["check"]: r for r in expected["checks"]}
    assert found == expected


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(judged(), indent=1, ensure_ascii=False) + "\n", "utf-8")
