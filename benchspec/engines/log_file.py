"""A server's log file, of one that benchspec started or somebody else: read, and followed.

Such a file may be as long as its server is old. At most LIMIT_BYTES are read at once; of more, the
end.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from benchspec.engines.base import Launch
from benchspec.errors import EngineFailure
from benchspec.store.records import LogFinding

LIMIT_BYTES = 32 << 20
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Part:
    """Whole lines of a log, of which the first is line `first`; `skipped_bytes` stand before them
    that were not read."""

    lines: list[str]
    first: int = 1
    skipped_bytes: int = 0

    def gap(self) -> list[LogFinding]:
        """A warning where something was not read."""
        if not self.skipped_bytes:
            return []
        text = (
            f"the log is long: {self.skipped_bytes / 2**20:.0f} MiB of it before line {self.first} "
            "were not read"
        )
        return [LogFinding(effect="warning", text=text)]


class LogFile:
    """A log that grows. `shown` is its name as the spec gives it, where the spec does."""

    def __init__(self, path: Path, shown: str | None = None) -> None:
        self.path = path
        self.shown = shown or path.name
        self._byte = 0
        self._line = 1

    def whole(self, *, ended: bool = False) -> Part:
        """The whole lines from the beginning; with `ended` also a last one that has no end. Raises
        EngineFailure when it cannot be read."""
        self._byte, self._line = 0, 1
        return self.news(ended=ended)

    def news(self, *, ended: bool = False) -> Part:
        """The whole lines added since the last call; a file that has become shorter was begun
        anew. Raises EngineFailure when it cannot be read."""
        try:
            with self.path.open("rb") as file:
                return self._read(file, ended)
        except OSError as error:
            raise EngineFailure(
                f"The server's log {self.shown} cannot be read: {error.strerror}.",
                hint="Correct engine.log, or leave it out: then only what the server answers is "
                "known.",
            ) from error

    def _read(self, file: io.BufferedReader, ended: bool) -> Part:
        size = file.seek(0, io.SEEK_END)
        if size < self._byte:
            self._byte, self._line = 0, 1
        skipped = max(0, size - self._byte - LIMIT_BYTES)
        file.seek(self._byte)
        self._line += _line_feeds(file, skipped)
        data = file.read(LIMIT_BYTES)
        if skipped:  # the rest of a line that began before
            rest = data.find(b"\n") + 1
            data, skipped, self._line = data[rest:], skipped + rest, self._line + 1
        data = data if ended else data[: data.rfind(b"\n") + 1]
        lines = data.decode("utf-8", "replace").split("\n")
        if not lines[-1]:
            lines.pop()
        part = Part(lines, self._line, skipped)
        self._byte += skipped + len(data)
        self._line += len(lines)
        return part


def log_of(launch: Launch) -> LogFile | None:
    """The log of a server that is started, or of an attached one where the spec names it."""
    if launch.attach is None:
        return LogFile(launch.log_path) if launch.log_path else None
    return LogFile(launch.attached_log, launch.attached_log_name) if launch.attached_log else None


def _line_feeds(file: io.BufferedReader, size: int) -> int:
    """Line feeds in the next `size` bytes."""
    count = 0
    while size > 0:
        chunk = file.read(min(size, _CHUNK_BYTES))
        if not chunk:
            break
        count += chunk.count(b"\n")
        size -= len(chunk)
    return count
