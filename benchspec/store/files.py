"""Durable writes: whole or not at all, and every failure a sentence."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from benchspec.errors import StorageFailure

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""No space, quota reached, and a file beyond the limit that this process may write."""


@contextlib.contextmanager
def storage(path: Path, action: str = "written") -> Iterator[None]:
    """Turn an OSError inside into a StorageFailure that names `path` and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFailure(
                f"The disk is full: {path} could not be {action}.",
                hint="Free some space, or choose another folder with --output. "
                "Cells that were finished are kept.",
            ) from error
        raise StorageFailure(
            f"{path} could not be {action}: {error.strerror or error}.",
            hint="Check that the folder exists and that you may write there.",
        ) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that a reader, also after a crash, sees the old file or the new one.

    Raises StorageFailure.
    """
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with storage(path):
        try:
            with scratch.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a new name in `folder` survive a power cut; where a folder cannot be synced, nothing."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_whole(path: Path, limit_bytes: int) -> bytes:
    """The file's bytes. Raises StorageFailure when it cannot be read or exceeds `limit_bytes`."""
    with storage(path, "read"), path.open("rb") as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise StorageFailure(
            f"{path} is larger than {limit_bytes >> 20} MiB, more than such a file can need.",
            hint="Check that this bundle was made by benchspec.",
        )
    return data
