"""The model file of an arm: found or fetched once into the user's cache, and verified.

The cache is `$XDG_CACHE_HOME/benchspec/models` (else `~/.cache/...`): `<sha256>/<file name>` for a
pinned model, `unpinned-<digest of the source>/<file name>` for another.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchspec.engines.model_download import CHUNK_BYTES, Progress, download
from benchspec.engines.model_source import LocalSource, ServedSource, Source, parse_source
from benchspec.errors import FetchFailure

GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class ModelFile:
    """A model on this machine, with the digest of its bytes."""

    path: Path
    sha256: str
    size_bytes: int
    source: str


def default_cache() -> Path:
    """The folder for model files; it need not exist yet."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "benchspec" / "models"


def locate(
    source: str, *, sha256: str | None, spec_dir: Path, cache: Path | None = None
) -> Path | None:
    """Where the file is if it is on this machine; None when it must be fetched, or is served.

    Reads nothing of the file and does not touch the network. Raises UsageError for a source that
    cannot be read.
    """
    parsed = parse_source(source)
    if isinstance(parsed, ServedSource):
        return None
    path = _place(parsed, source, sha256, spec_dir, cache or default_cache())
    return path if path.is_file() else None


def resolve(
    source: str,
    *,
    sha256: str | None,
    spec_dir: Path,
    cache: Path | None = None,
    progress: Progress | None = None,
    allow_download: bool = True,
) -> ModelFile | None:
    """The verified model file, fetched where it is not here yet; None for `served`.

    A file is hashed once and again whenever its size or time of change differs. `progress` is
    called with bytes done and bytes in all while fetching and hashing.

    Raises UsageError for a source that cannot be read, and FetchFailure: it is not there, cannot be
    fetched, is not a GGUF, or its digest is not the pinned one (the message names both).
    """
    parsed = parse_source(source)
    if isinstance(parsed, ServedSource):
        return None
    cache = cache or default_cache()
    report = progress or (lambda done, total: None)
    path = _place(parsed, source, sha256, spec_dir, cache)
    if not path.is_file():
        if isinstance(parsed, LocalSource):
            raise FetchFailure(f"The model file {parsed.path} does not exist.", hint=_HERE)
        if not allow_download:
            raise FetchFailure(f"The model {source} is not in the cache and may not be fetched.")
        _fetch(parsed, path, sha256, report)
    _check_magic(path)
    digest = _digest(path, cache / "digests", report)
    if sha256 is not None and digest != sha256.lower():
        raise _wrong_digest(path.name, sha256, digest)
    return ModelFile(path, digest, path.stat().st_size, source)


_HERE = "A path in model.source is relative to the spec's folder."


def _place(parsed: Source, source: str, sha256: str | None, spec_dir: Path, cache: Path) -> Path:
    if isinstance(parsed, LocalSource):
        return spec_dir / Path(parsed.path).expanduser()
    folder = sha256.lower() if sha256 else f"unpinned-{_text_digest(source)}"
    return cache / folder / parsed.file_name


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _fetch(parsed: Source, path: Path, sha256: str | None, report: Progress) -> None:
    """Fetch beside its place, verify, and only then move it there."""
    assert not isinstance(parsed, LocalSource | ServedSource)
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="fetching-", dir=path.parent.parent))
    except OSError as error:
        raise FetchFailure(
            f"The cache {path.parent.parent} cannot be written: {error.strerror}.",
            hint="Set XDG_CACHE_HOME to a folder that can be.",
        ) from error
    try:
        fetched = folder / path.name
        download(parsed, fetched, report)
        _check_magic(fetched)
        if sha256 is not None:
            digest = hash_file(fetched, report)
            if digest != sha256.lower():
                raise _wrong_digest(parsed.fetches, sha256, digest)
        path.parent.mkdir(exist_ok=True)
        fetched.replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wrong_digest(what: str, pinned: str, found: str) -> FetchFailure:
    return FetchFailure(
        f"{what} is not the model that the spec pins: sha256 {found}, pinned {pinned.lower()}.",
        hint="Delete the file to fetch it anew, or correct model.sha256 if this model is meant.",
    )


def _check_magic(path: Path) -> None:
    """Refuse a web page or a pointer file that was saved under a model's name."""
    if path.suffix != ".gguf":
        return
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise FetchFailure(f"The model {path.name} cannot be read: {error.strerror}.") from error
    if magic != GGUF_MAGIC:
        raise FetchFailure(
            f"{path.name} is not a GGUF file: it begins with {magic!r}.",
            hint="It may be a web page or a Git LFS pointer saved in the model's place.",
        )


def hash_file(path: Path, report: Progress) -> str:
    """The sha256 of a file, read in pieces. Raises FetchFailure when it cannot be read."""
    digest = hashlib.sha256()
    done = 0
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                done += len(chunk)
                report(done, size)
    except OSError as error:
        raise FetchFailure(f"The model {path.name} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def _digest(path: Path, stamps: Path, report: Progress) -> str:
    """The file's sha256, from the stamp of an earlier reading if the file has not changed since."""
    status = path.stat()
    place = str(path.resolve())
    state = [place, status.st_size, status.st_mtime_ns, status.st_ino]
    stamp = stamps / f"{_text_digest(place)}.json"
    known = _read_stamp(stamp)
    if known is not None and known.get("state") == state and isinstance(known.get("sha256"), str):
        return str(known["sha256"])
    digest = hash_file(path, report)
    _write_stamp(stamp, {"state": state, "sha256": digest})
    return digest


def _read_stamp(stamp: Path) -> dict[str, object] | None:
    try:
        known = json.loads(stamp.read_bytes())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) else None


def _write_stamp(stamp: Path, content: dict[str, object]) -> None:
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        new = stamp.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(content))
        new.replace(stamp)
    except OSError:  # only the next run's time is at stake
        return
