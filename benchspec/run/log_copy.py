"""The engine's log on its way into the bundle: redacted, line by line."""

from __future__ import annotations

import os
from pathlib import Path

from benchspec.store.files import storage
from benchspec.store.redaction import Redactor


class LogCopy:
    """Copies what has been added to `source` (which may grow) to `target`, whole lines only.

    The engine writes to a private file outside the bundle, so that nothing stands in the bundle
    that has not been redacted.
    """

    def __init__(self, source: Path, target: Path, redactor: Redactor) -> None:
        self.source = source
        self.target = target
        self._redactor = redactor
        self._copied_bytes = 0

    def sync(self, *, all_of_it: bool = False) -> None:
        """Copy the lines that are new; with `all_of_it` also a last one that has no end.

        Raises StorageFailure when the bundle cannot take them.
        """
        try:
            with self.source.open("rb") as file:
                file.seek(self._copied_bytes)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data if all_of_it else data[: data.rfind(b"\n") + 1]
        self._copied_bytes += len(whole)
        text = self._redactor.text(whole.decode("utf-8", "replace"))
        with storage(self.target), self.target.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
