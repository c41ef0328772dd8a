"""A bundle: the folder from which a stranger recomputes every verdict; `docs/bundle.md` describes it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from benchspec.errors import StorageFailure, UsageError
from benchspec.store import tracks
from benchspec.store.files import read_whole, storage, sync_folder, write_whole
from benchspec.store.manifest import MANIFEST
from benchspec.store.tracks import Track

PROBE_BYTES = 64 * 1024
FILE_LIMIT_BYTES = 256 << 20

Samples = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bundle:
    """The paths of a bundle's parts; nothing is held open."""

    root: Path

    @property
    def spec(self) -> Path:
        return self.root / "spec.yaml"

    @property
    def resolved(self) -> Path:
        return self.root / "resolved.json"

    @property
    def journal(self) -> Path:
        return self.root / "journal.jsonl"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def observations(self) -> Path:
        return self.root / "observations.json"

    @property
    def verdicts(self) -> Path:
        return self.root / "verdicts.json"

    @property
    def html(self) -> Path:
        return self.root / "report.html"

    @property
    def pdf(self) -> Path:
        return self.root / "report.pdf"

    def write_samples(self, cell_id: str, samples: Samples) -> tuple[str, str]:
        """Keep a cell's token stamps (int64 ns). Returns the file's name in the bundle, its SHA-256.

        Raises StorageFailure.
        """
        name = f"samples/{quote(cell_id, safe='')}.npy"
        data = io.BytesIO()
        np.save(data, samples.astype(np.int64, copy=False), allow_pickle=False)
        write_whole(self.root / name, data.getvalue())
        return name, hashlib.sha256(data.getvalue()).hexdigest()

    def read_samples(self, name: str) -> Samples:
        """The stamps in a sample file named by a cell's record. Raises StorageFailure."""
        path = self._part("samples", name)
        data = read_whole(path, FILE_LIMIT_BYTES)
        try:
            array = np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise StorageFailure(
                f"{path} is not a NumPy array file.", hint="The file was changed after the run."
            ) from error
        return np.asarray(array, dtype=np.int64).reshape(-1)

    def write_tracks(self, cell_id: str, kept: Iterable[Track]) -> tuple[str, str]:
        """Keep the samples of counters around a cell. Returns the file's name in the bundle, its
        SHA-256. Raises StorageFailure.
        """
        name, data = f"telemetry/{quote(cell_id, safe='')}.jsonl", tracks.encode(kept)
        write_whole(self.root / name, data)
        return name, hashlib.sha256(data).hexdigest()

    def read_tracks(self, name: str) -> list[Track]:
        """The samples in a file named by a cell's record. Raises StorageFailure."""
        path = self._part("telemetry", name)
        return tracks.decode(read_whole(path, FILE_LIMIT_BYTES), str(path))

    def _part(self, folder: str, name: str) -> Path:
        """A file that the journal names in one of the bundle's own folders."""
        path, parts = self.root / name, Path(name).parts
        if parts[:1] != (folder,) or ".." in parts or path.is_symlink():
            raise StorageFailure(
                f"The journal names a sample file outside the bundle: {name!r}.",
                hint="This bundle was changed; do not rely on it.",
            )
        return path

    def write_json(self, path: Path, data: object) -> None:
        """Write `canonical_json`. Raises StorageFailure."""
        write_whole(path, canonical_json(data))

    def read_json(self, path: Path) -> dict[str, Any]:
        """A JSON object. Raises StorageFailure."""
        try:
            decoded = json.loads(read_whole(path, FILE_LIMIT_BYTES))
        except (ValueError, RecursionError) as error:
            raise StorageFailure(
                f"{path} is not JSON.", hint="The file was changed after the run."
            ) from error
        if not isinstance(decoded, dict):
            raise StorageFailure(f"{path} does not hold a JSON object.")
        return decoded


def canonical_json(data: object) -> bytes:
    """Sorted keys, two blanks, UTF-8, a final line feed: the same data, the same bytes."""
    return json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def probe(output: Path) -> None:
    """Try that a file can be written and synced in the output folder; no trace of it stays.

    Raises StorageFailure, before anything has been started.
    """
    made = [folder for folder in (output, *output.parents) if not folder.exists()]
    with storage(output, "created"):
        output.mkdir(parents=True, exist_ok=True)
    trial = output / f".benchspec-probe-{secrets.token_hex(4)}"
    with storage(output):
        try:
            with trial.open("xb") as file:
                file.write(bytes(PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
        finally:
            trial.unlink(missing_ok=True)
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()


def create(output: Path, utc: str, title: str) -> Bundle:
    """A new folder `<utc>-<slug of the title>` with its parts' folders. Raises StorageFailure."""
    with storage(output, "created"):
        output.mkdir(parents=True, exist_ok=True)
        bundle = Bundle(_new_folder(output, f"{re.sub(r'[-:]', '', utc)}-{slug(title)}"))
        for name in ("samples", "telemetry", "logs"):
            (bundle.root / name).mkdir()
        sync_folder(output)
    return bundle


def _new_folder(output: Path, name: str) -> Path:
    for number in range(1, 1000):
        folder = output / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise StorageFailure(f"{output} already holds a thousand bundles named {name}.")


def slug(title: str) -> str:
    """The title as a file name: ASCII letters, digits and dashes, at most 48."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:48].rstrip("-") or "study"


def open_bundle(path: Path) -> Bundle:
    """The bundle in `path`. Raises UsageError when that is not one."""
    bundle = Bundle(path)
    begun = bundle.journal.is_file() and bundle.spec.is_file()
    if not begun and not (path / MANIFEST).is_file():  # one that lost a file is one still
        raise UsageError(
            f"{path} is not a bundle: it has no spec.yaml and journal.jsonl.",
            hint="Name the folder that `benchspec run` printed, runs/<time>-<study>.",
        )
    return bundle
