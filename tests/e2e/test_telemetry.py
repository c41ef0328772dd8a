"""Counters from the driver to the report: a real server beside a scripted card."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchspec.run.environment import hardware
from benchspec.store import tracks
from benchspec.telemetry.probe import cache
from tests.e2e.conftest import Cli, cells, model_path
from tests.telemetry.conftest import HEALTHY, stub_path

__all__ = ["stub_path"]

pytestmark = pytest.mark.engine

NVLINK = "NVML answers: Not Supported (field 139)"
RECEIVED_MB_S, POWER_W = 300.0, 200.0
GROWS = {"field198": RECEIVED_MB_S * 1e6, "field83": POWER_W * 1e3}

TELEMETRY = {
    "telemetry": {
        "sources": ["nvml", "host", "engine"],
        "counters": ["pcie", "nvlink", "power", "temperature", "cpu", "waiting"],
        "interval": "50 ms",
        "idle_baseline": "300 ms",
    },
    "workload": {"output": {"tokens": 40}},
    "hardware": {"devices": [{"id": "card", "kind": "gpu", "name": "a stub"}]},
    "hypotheses": [
        {
            "id": "H1",
            "claim": "A token costs less than a thousand joules.",
            "because": "power times time",
            "test": {"metric": "joules_per_token", "at": {"concurrency": 1}, "relation": "<",
                     "value": "1000 J"},
        }
    ],
}  # fmt: skip


@pytest.fixture
def bundle(cli: Cli, stub_path: Path) -> Path:
    """A run on a machine whose one card has everything but NVLink."""
    script = "".join(f"0 {key} {value} {GROWS.get(key, 0)};" for key, value in HEALTHY.items())
    cli.environ |= {"LD_LIBRARY_PATH": str(stub_path.parent), "STUB_NVML": script}
    cli("run", cli.spec(**TELEMETRY), exit_code=None)
    return cli.bundle()


def test_samples_reach_the_judge_and_the_reader(cli: Cli, bundle: Path) -> None:
    seen = json.loads((bundle / "observations.json").read_text())
    _check_samples(bundle)
    _check_series(seen["series"])
    _check_identity(seen["arms"]["main"]["identity"])
    joules = [step["joules_per_token"] for step in seen["steps"]]
    known = [value for value in joules if value is not None]
    assert known and min(known) > 0, "a cell without two samples in it has none"
    shares = [step["client"]["telemetry_share"] for step in seen["steps"]]
    assert all(0 < share < 1 for share in shares)
    text = f"nvlink_rx of card was not measured: {NVLINK}."
    verdicts = json.loads((bundle / "verdicts.json").read_text())
    assert text in [line["text"] for line in verdicts["unfinished"]]
    assert NVLINK in (bundle / "report.html").read_text()
    cli("verify", bundle)


def _check_samples(bundle: Path) -> None:
    """A file per cell, named in the journal with its digest, listed as evidence."""
    evidence = (bundle / "EVIDENCE.sha256").read_text()
    for cell in cells(bundle):
        record = cell["telemetry"]
        data = (bundle / record["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == record["sha256"]
        assert f"{record['sha256']}  {record['file']}" in evidence
        read = tracks.decode(data, record["file"])
        assert all(t.at_ns == sorted(t.at_ns) for t in read)
        before, after = record["idle_before_ns"], record["idle_after_ns"]
        assert before[0] < before[1] <= cell["started_ns"] < cell["ended_ns"] <= after[0] < after[1]


def _check_series(series: list[dict[str, Any]]) -> None:
    received = [s for s in series if s["counter"] == "pcie_rx" and s["values"]]
    assert {s["device"] for s in received} == {"card"}
    assert {s["phase"] for s in received} <= {"prefill", "decode"}
    assert all(RECEIVED_MB_S / 5 < s["mean"] < RECEIVED_MB_S * 5 for s in received)
    assert all(s["idle_before"] and s["idle_after"] for s in received)
    silent = {(s["counter"], s["device"]): s for s in series if s["not_measured"]}
    assert silent["nvlink_rx", "card"]["not_measured"] == NVLINK
    assert silent["nvlink_rx", "card"]["values"] == []
    assert silent["nvlink_rx", "card"]["mean"] is None
    assert {"cpu", "temperature"} <= {s["counter"] for s in series if s["values"]}
    assert "energy" not in {s["counter"] for s in series if s["values"]}


def _check_identity(identity: dict[str, Any]) -> None:
    assert identity["card.name"] == "Stub 0"
    assert identity["card.bandwidth_gb_s"] == 1133.6
    assert identity["card.memory_used_mib"] == 18_890
    assert identity["cpu.cores"] >= 1


def test_a_run_without_any_card_says_so_and_goes_on(cli: Cli) -> None:
    cli.environ["LD_LIBRARY_PATH"] = ""
    spec = cli.spec(telemetry={"sources": ["nvml", "amd"], "counters": ["utilization"]})
    done = cli("run", spec, exit_code=None)
    seen = json.loads((cli.bundle() / "observations.json").read_text())
    if any(s["values"] for s in seen["series"]):
        pytest.skip("this machine has a card")
    reasons = {s["not_measured"] for s in seen["series"]}
    assert len(reasons) == 2, done.stderr
    assert any("no NVIDIA driver" in reason for reason in reasons)
    assert any("no AMD card" in reason for reason in reasons)


def test_what_a_probe_measured_is_what_a_rate_is_divided_by(cli: Cli, tmp_path: Path) -> None:
    """Neither bytes nor bandwidth stand in the spec: the server says what it loaded, the probe how
    fast it can be read."""
    cli.environ["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    figures = {"host": {"points": [{"read": {"best": 20e9}}]}}
    cache.keep(hardware((), {})["cpu"], figures, cache.folder(cli.environ))
    spec = cli.spec(
        hardware={"devices": [{"id": "cpu0", "kind": "cpu"}]},
        model={"source": f"file:{model_path()}"},
        telemetry={"sources": ["host"]},
    )
    cli("run", spec, "--trust", exit_code=None)
    seen = json.loads((cli.bundle() / "observations.json").read_text())["arms"]["main"]
    verdicts = json.loads((cli.bundle() / "verdicts.json").read_text())["checks"]
    ceilings = [one for one in verdicts if one["check"] == "bandwidth-ceiling"]
    assert {one["state"] for one in ceilings} <= {"judged", "invalid"}
    assert len(ceilings) == 2
    for one in (one for one in ceilings if one["state"] == "judged"):
        inputs = {each["name"]: each for each in one["inputs"]}
        assert inputs["bandwidth"]["value"] == 20e9
        assert inputs["bandwidth"]["provenance"] == "measured"
        assert inputs["weights per pass"]["value"] == seen["model_bytes"] == 96_576_768
        assert inputs["weights per pass"]["provenance"] == "bound"
        read = seen["model_bytes"] + inputs["KV per stream"]["value"]
        fraction = inputs["decode rate"]["value"] * read / 20e9
        assert one["value"] == pytest.approx(fraction)
    cli("verify", cli.bundle())
