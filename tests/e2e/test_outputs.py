"""What a run keeps of its answers: measures and digests, by which two arms are compared."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import Cli, cells

pytestmark = pytest.mark.engine


def test_two_arms_of_one_model_are_compared_by_their_greedy_answers(cli: Cli) -> None:
    changes = {
        "arms": [{"id": f"slots-{n}", "engine": {"flags": {"parallel": n}}} for n in (1, 2)],
        "workload": {"output": {"tokens": 24}, "sampling": {"temperature": 0, "seed": 1}},
        "load": {"mode": "burst", "concurrency": [1, 4]},
        "repeats": 1,
        "hypotheses": [
            {
                "id": "H1",
                "claim": "Slots do not change what is said.",
                "because": "they share the weights",
                "test": {"check": "output-agreement", "expect": "agrees"},
            },
        ],
    }
    cli("run", cli.spec(**changes))
    bundle = cli.bundle()
    requests = [request for cell in cells(bundle) for request in cell["requests"]]
    for request in requests:
        assert request["text"]["chars"] >= 16
        assert all(0 < events <= 24 for events, _ in request["output_prefixes"])
        assert not {"content", "output"} & request.keys(), "the text is not kept"
    assert len({request["prompt_sha256"] for request in requests}) == len(requests) / 2
    (found,) = json.loads((bundle / "observations.json").read_text())["agreement"]
    assert sorted(found["arms"]) == ["slots-1", "slots-2"]
    assert len(found["common_prefix_tokens"]) + len(found["whole_tokens"]) == len(requests) / 2
    assert set(found["whole_tokens"]) == {24}
    verdicts = json.loads((bundle / "verdicts.json").read_text())
    (agreement,) = [one for one in verdicts["checks"] if one["check"] == "output-agreement"]
    assert agreement["state"] == "insufficient", "no answer is long enough to tell"
    sanity = [one for one in verdicts["checks"] if one["check"] == "output-sanity"]
    assert [(one["state"], one["quotable"]) for one in sanity] == [("judged", "yes")] * 2
    cli("verify", bundle)
