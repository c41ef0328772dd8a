"""The manifest: canonical bytes, and every change has a name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchspec.store import manifest
from benchspec.store.manifest import Difference


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "a.npy").write_bytes(b"one")
    (tmp_path / "report.html").write_bytes(b"two")
    (tmp_path / "B.txt").write_bytes(b"three")
    (tmp_path / manifest.MANIFEST).write_bytes(manifest.manifest(tmp_path))
    return tmp_path


def recorded(bundle: Path) -> bytes:
    return (bundle / manifest.MANIFEST).read_bytes()


def differences(bundle: Path) -> list[Difference]:
    return manifest.compare(bundle, recorded(bundle))


def test_sorted_by_bytes_and_readable_by_sha256sum(bundle: Path) -> None:
    paths = [line.split(b"  ")[1] for line in recorded(bundle).splitlines()]
    assert paths == [b"B.txt", b"report.html", b"samples/a.npy"]
    command = ["sha256sum", "--strict", "-c", manifest.MANIFEST]
    assert subprocess.run(command, cwd=bundle, capture_output=True, check=False).returncode == 0


def test_untouched_is_equal(bundle: Path) -> None:
    assert differences(bundle) == []


def test_a_changed_byte_names_the_file(bundle: Path) -> None:
    (bundle / "samples" / "a.npy").write_bytes(b"onf")
    assert differences(bundle) == [Difference("samples/a.npy", "changed")]


def test_a_missing_file_is_named(bundle: Path) -> None:
    (bundle / "B.txt").unlink()
    assert differences(bundle) == [Difference("B.txt", "missing")]


def test_an_added_file_is_named(bundle: Path) -> None:
    (bundle / "samples" / "extra").write_bytes(b"")
    assert differences(bundle) == [Difference("samples/extra", "added")]


def test_a_link_is_never_followed(bundle: Path) -> None:
    (bundle / "B.txt").unlink()
    (bundle / "B.txt").symlink_to(bundle / "report.html")
    (bundle / "folder").symlink_to("/")
    assert differences(bundle) == [Difference("B.txt", "changed"), Difference("folder", "added")]


def test_a_line_feed_in_the_manifest_itself(bundle: Path) -> None:
    (bundle / manifest.MANIFEST).write_bytes(recorded(bundle) + b"\n")
    assert differences(bundle) == [Difference(manifest.MANIFEST, "not-canonical")]


def test_any_byte_changed_in_the_manifest_names_the_manifest(bundle: Path) -> None:
    whole = recorded(bundle)
    for place in range(len(whole)):
        edited = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        (bundle / manifest.MANIFEST).write_bytes(edited)
        found = differences(bundle)
        assert any(manifest.MANIFEST in difference.sentence() for difference in found)


def test_the_same_lines_in_another_order(bundle: Path) -> None:
    lines = recorded(bundle).splitlines(keepends=True)
    (bundle / manifest.MANIFEST).write_bytes(b"".join(reversed(lines)))
    assert differences(bundle) == [Difference(manifest.MANIFEST, "not-canonical")]


def test_a_name_that_would_command_a_terminal_is_escaped(bundle: Path) -> None:
    (bundle / "\x1b[2Jx\n").write_bytes(b"")
    (difference,) = differences(bundle)
    assert difference.kind == "added"
    assert difference.path.isprintable()


def test_evidence_is_what_is_not_rendered(bundle: Path) -> None:
    listed = manifest.evidence(bundle)
    assert b"samples/a.npy" in listed
    assert b"report.html" not in listed
    assert manifest.MANIFEST.encode() not in listed
