"""MANIFEST.sha256 and EVIDENCE.sha256: which bytes a bundle consists of.

One line per file, `<sha256>  <path>`, sorted by the bytes of the path, line feeds, nothing else;
`sha256sum -c` reads it. The bytes are canonical: the same files give the same manifest.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchspec.store.files import storage

MANIFEST = "MANIFEST.sha256"
EVIDENCE = "EVIDENCE.sha256"
RENDERED = frozenset(
    {
        "report.html",
        "report.pdf",
        "badge.svg",
        "card.png",
        "embed.html",
        "CITATION.cff",
        "ro-crate-metadata.json",
    }
)
"""What can be made again from the rest."""

NOT_A_FILE = "-" * 64
"""Stands where a digest would, for a link, a socket or an unreadable name: never equal to one."""


@dataclass(frozen=True)
class Difference:
    """A file whose bytes are not those that the manifest names."""

    path: str
    kind: Literal["missing", "added", "changed", "not-canonical"]

    def sentence(self) -> str:
        return {
            "missing": f"{self.path} is listed in {MANIFEST} and not in the bundle.",
            "added": f"{self.path} is in the bundle and not listed in {MANIFEST}.",
            "changed": f"{self.path} was changed: its SHA-256 is not the one in {MANIFEST}.",
            "not-canonical": f"{self.path} was changed: its own bytes are not canonical.",
        }[self.kind]


def digests(root: Path, *, leave_out: Iterable[str] = ()) -> dict[str, str]:
    """SHA-256 in hex of every file below `root` but `leave_out`, by its path with `/`.

    Links are never followed. Raises StorageFailure.
    """
    left_out = frozenset(leave_out)
    return {name: _digest(path) for name, path in _files(root) if name not in left_out}


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    with storage(root, "read"):
        for folder, folders, names in os.walk(root):
            links = [name for name in folders if (Path(folder) / name).is_symlink()]
            for name in [*names, *links]:
                path = Path(folder) / name
                yield path.relative_to(root).as_posix(), path


def _digest(path: Path) -> str:
    with storage(path, "read"):
        if not stat.S_ISREG(path.lstat().st_mode):
            return NOT_A_FILE
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def canonical(by_path: Mapping[str, str]) -> bytes:
    """The manifest's bytes for these digests."""
    lines = sorted((os.fsencode(path), digest.encode()) for path, digest in by_path.items())
    return b"".join(digest + b"  " + _one_line(path) + b"\n" for path, digest in lines)


def _one_line(path: bytes) -> bytes:
    return path.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")


def manifest(root: Path) -> bytes:
    """What MANIFEST.sha256 must hold: every file but itself."""
    return canonical(digests(root, leave_out={MANIFEST}))


def evidence(root: Path) -> bytes:
    """What EVIDENCE.sha256 must hold: every file that is not rendered, but the lists themselves."""
    return canonical(digests(root, leave_out={MANIFEST, EVIDENCE, *RENDERED}))


def compare(root: Path, recorded: bytes) -> list[Difference]:
    """How the files below `root` differ from the `recorded` manifest; empty if byte for byte equal."""
    expected = manifest(root)
    if recorded == expected:
        return []
    listed, found = _entries(recorded), _entries(expected)
    differences = [
        Difference(_shown(path), _kind(path, listed, found))
        for path in sorted(listed.keys() | found.keys())
        if listed.get(path) != found.get(path)
    ]
    return differences or [Difference(MANIFEST, "not-canonical")]


def _kind(
    path: bytes, listed: Mapping[bytes, bytes], found: Mapping[bytes, bytes]
) -> Literal["missing", "added", "changed"]:
    if path not in found:
        return "missing"
    return "changed" if path in listed else "added"


def _entries(data: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b"  ") for line in data.split(b"\n") if line)
    return {path: digest for digest, _, path in pairs}


def _shown(path: bytes) -> str:
    """For a message: bytes that a terminal could take for a command are escaped."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
