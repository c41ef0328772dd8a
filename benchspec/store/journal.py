"""The journal: what was measured, one record per line, appended and synced, never rewritten.

A kill at any moment leaves whole lines and at most one torn last line. Reading passes over that
one; opening the journal for more cuts it off.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from benchspec.errors import StorageFailure
from benchspec.store.files import read_whole, storage, sync_folder
from benchspec.store.records import (
    CellRecord,
    EngineRecord,
    Record,
    RunEnded,
    RunStarted,
    TroubleRecord,
)
from benchspec.store.redaction import Redactor

Line = RunStarted | EngineRecord | CellRecord | TroubleRecord | RunEnded

JOURNAL_LIMIT_BYTES = 1 << 30
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


class Journal:
    """An open journal. Use as a context manager, or call `close`."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        """Open for appending. Raises StorageFailure."""
        self.path = path
        self._redactor = redactor
        with storage(path):
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._lock()
            sync_folder(path.parent)
            self._cut_to_whole_lines()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._fd)
            raise StorageFailure(
                f"{self.path} is being written by another benchspec.",
                hint="Wait until it has ended, or end it.",
            ) from error

    def _cut_to_whole_lines(self) -> None:
        size = os.fstat(self._fd).st_size
        tail = os.pread(self._fd, size, 0)
        os.ftruncate(self._fd, tail.rfind(b"\n") + 1)

    def append(self, record: Record) -> None:
        """Redact, write and sync one record; a line that does not fit is taken back.

        Raises StorageFailure.
        """
        line = self._redactor.record(record).model_dump_json().encode() + b"\n"
        with storage(self.path):
            size = os.fstat(self._fd).st_size
            try:
                _write_all(self._fd, line)
                os.fsync(self._fd)
            except OSError:
                os.ftruncate(self._fd, size)
                raise

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read(path: Path) -> list[Line]:
    """Every whole line of the journal at `path`.

    Raises StorageFailure when it cannot be read, or a line that is whole is not a record.
    """
    return parse(read_whole(path, JOURNAL_LIMIT_BYTES), str(path))


def parse(data: bytes, name: str) -> list[Line]:
    """The records in `data`; bytes after the last line feed are a torn line and passed over."""
    whole = data[: data.rfind(b"\n") + 1]
    return [_parse_line(line, name, number) for number, line in enumerate(whole.splitlines(), 1)]


def _parse_line(line: bytes, name: str, number: int) -> Line:
    try:
        return _LINE.validate_json(line)
    except ValidationError as error:
        raise StorageFailure(
            f"{name}, line {number}, is not a record of a journal: {error.errors()[0]['msg']}.",
            hint="The file was changed after the run, or made by another version of benchspec.",
        ) from error


def finished_cells(records: Iterable[Record]) -> dict[str, CellRecord]:
    """The cells that are done, by id; where a cell was done twice, the later one."""
    cells = (record for record in records if isinstance(record, CellRecord))
    return {cell.key.id: cell for cell in cells if cell.state == "done"}
