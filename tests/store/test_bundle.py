"""A bundle's folder: created once, named for people, read with suspicion."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from benchspec.errors import StorageFailure, UsageError
from benchspec.store import bundle as bundles
from benchspec.store.bundle import Bundle

UTC = "2026-11-29T18:00:00Z"


def test_the_name_holds_time_and_title(tmp_path: Path) -> None:
    made = bundles.create(tmp_path / "runs", UTC, "Four slots, one slot")
    assert made.root == tmp_path / "runs" / "20261129T180000Z-four-slots-one-slot"
    assert made.logs.is_dir()


def test_a_second_bundle_of_the_same_second_gets_a_number(tmp_path: Path) -> None:
    first, second = (bundles.create(tmp_path, UTC, "x").root.name for _ in range(2))
    assert second == f"{first}-2"


@pytest.mark.parametrize(
    ("title", "slug"),
    [("Größe: 3 × 4", "groe-3-4"), ("四張卡", "study"), ("../../etc", "etc"), ("a" * 99, "a" * 48)],
)
def test_a_title_becomes_a_file_name(title: str, slug: str) -> None:
    assert bundles.slug(title) == slug


def test_samples_come_back(tmp_path: Path) -> None:
    made = bundles.create(tmp_path, UTC, "x")
    stamps = np.array([3, 1, 4], dtype=np.int64)
    name, digest = made.write_samples("A-c1-r1", stamps)
    assert name == "samples/A-c1-r1.npy"
    assert digest == hashlib.sha256((made.root / name).read_bytes()).hexdigest()
    assert made.read_samples(name).tolist() == [3, 1, 4]


@pytest.mark.parametrize("name", ["../spec.yaml", "samples/../../x", "/etc/passwd", "spec.yaml"])
def test_a_sample_file_outside_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    made = bundles.create(tmp_path, UTC, "x")
    with pytest.raises(StorageFailure, match="outside the bundle"):
        made.read_samples(name)


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    made = bundles.create(tmp_path, UTC, "x")
    np.save(made.root / "samples" / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(StorageFailure, match="not a NumPy array"):
        made.read_samples("samples/a.npy")


def test_a_folder_without_journal_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a bundle"):
        bundles.open_bundle(tmp_path)


def test_the_probe_leaves_nothing(tmp_path: Path) -> None:
    bundles.probe(tmp_path / "deep" / "runs")
    assert list(tmp_path.iterdir()) == [], "not even the folder: the model may yet be refused"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_the_probe_refuses_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(StorageFailure, match="could not be"):
        bundles.probe(tmp_path)


def test_the_probe_refuses_a_file_in_the_folders_place(tmp_path: Path) -> None:
    (tmp_path / "runs").write_bytes(b"")
    with pytest.raises(StorageFailure, match="runs could not be created"):
        bundles.probe(tmp_path / "runs")


def test_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Bundle(tmp_path)
    made.write_json(made.verdicts, {"a": 1})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFailure, match="disk is full"):
        made.write_json(made.verdicts, {"a": 2})
    assert made.read_json(made.verdicts) == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.json"]


@pytest.mark.parametrize("lost", ["spec.yaml", "journal.jsonl"])
def test_a_finished_bundle_that_lost_a_file_is_one_still(tmp_path: Path, lost: str) -> None:
    for name in {"spec.yaml", "journal.jsonl", "MANIFEST.sha256"} - {lost}:
        (tmp_path / name).write_bytes(b"")
    assert bundles.open_bundle(tmp_path).root == tmp_path
