"""Samples of counters in a bundle: raw, exact, and read with suspicion."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchspec.errors import StorageFailure
from benchspec.store import bundle as bundles
from benchspec.store.tracks import CounterRecord, Track, decode, encode

UTC = "2026-11-29T18:00:00Z"
COUNTER = CounterRecord(
    name="pcie_rx", unit="MB/s", kind="cumulative", source="nvml", device="gpu0"
)


def test_raw_numbers_come_back_exactly() -> None:
    """A 64-bit counter has more digits than a float."""
    tracks = [
        Track(
            counter=COUNTER, at_ns=[-5, 0, 7], values=[2**63 + 1, None, 1.5], trouble="GPU is lost"
        ),
        Track(counter=COUNTER.model_copy(update={"not_measured": "N/A"}), at_ns=[], values=[]),
    ]
    assert decode(encode(tracks), "x") == tracks
    assert encode(decode(encode(tracks), "x")) == encode(tracks)


def test_a_file_per_cell_is_named_with_its_digest(tmp_path: Path) -> None:
    bundle = bundles.create(tmp_path, UTC, "x")
    track = Track(counter=COUNTER, at_ns=[1], values=[2])
    name, digest = bundle.write_tracks("A/1-c4-r1", [track])
    assert name == "telemetry/A%2F1-c4-r1.jsonl"
    assert digest == hashlib.sha256((bundle.root / name).read_bytes()).hexdigest()
    assert bundle.read_tracks(name) == [track]


@pytest.mark.parametrize(
    "name", ["../x.jsonl", "samples/a.jsonl", "telemetry/../../x", "/etc/passwd"]
)
def test_a_journal_may_not_point_elsewhere(tmp_path: Path, name: str) -> None:
    bundle = bundles.create(tmp_path, UTC, "x")
    with pytest.raises(StorageFailure, match="outside the bundle"):
        bundle.read_tracks(name)


@pytest.mark.parametrize(
    "line",
    [b"nonsense", b"{}", b'{"counter": {}, "at_ns": [], "values": []}', b"[" * 100_000],
    ids=["text", "empty", "no counter", "deep"],
)
def test_a_damaged_line_is_named(line: bytes) -> None:
    good = encode([Track(counter=COUNTER, at_ns=[1], values=[2])])
    with pytest.raises(StorageFailure, match=r"x\.jsonl, line 2, holds no samples"):
        decode(good + line, "x.jsonl")


def test_times_and_values_must_be_as_many() -> None:
    torn = Track(counter=COUNTER, at_ns=[1, 2], values=[2])
    with pytest.raises(StorageFailure, match="not one time per value"):
        decode(encode([torn]), "x")


def test_what_is_no_number_is_none() -> None:
    track = Track(counter=COUNTER, at_ns=[1, 2], values=[float("nan"), float("inf")])
    assert decode(encode([track]), "x")[0].values == [None, None]
