"""The header of a GGUF file: metadata and the list of tensors, without the tensors' data.

Read in sequence with small reads and seeks, so that a file of any size costs little memory. Files
come from strangers: every count and length is bounded, and checked against the file's size.
Format: GGUF version 2 and 3, little-endian (`docs/gguf.md` of ggml).
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from benchspec.errors import UsageError
from benchspec.gguf.quantisation import TYPES, TensorType

MAGIC = b"GGUF"
KEYS_LIMIT = 1 << 16
TENSORS_LIMIT = 1 << 18
PARTS_LIMIT = 1000
NAME_LIMIT_BYTES = 1 << 16
TEXT_LIMIT_BYTES = 1 << 20  # of one string that is kept; longer ones are skipped
KEPT_LIMIT_BYTES = 1 << 26  # of all strings that are kept
ARRAY_LIMIT = 4096  # elements of an array that is kept: per-layer values, not vocabularies
STRINGS_LIMIT = 4_000_000  # walked over in all arrays together; the largest vocabularies have 0.5 M
NESTING_LIMIT = 4
DIMENSIONS_LIMIT = 8

Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...] | None  # None: there, but too long to keep


class GgufUnreadable(UsageError):
    """Not a GGUF file, cut off, or beyond what an honest file holds."""


@dataclass(frozen=True)
class Tensor:
    """One tensor: `shape` in ggml's order (row length first), `offset` into the data of its part."""

    name: str
    shape: tuple[int, ...]
    kind: TensorType
    offset: int
    part: int = 0

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row; a row is always whole blocks."""
        return self.shape[0] // self.kind.block * self.kind.size

    @property
    def stored_bytes(self) -> int:
        return self.elements // self.kind.block * self.kind.size


@dataclass(frozen=True)
class Header:
    """Metadata by key and all tensors, of one file or of all parts of a split one."""

    metadata: dict[str, Value]
    tensors: tuple[Tensor, ...]

    @property
    def stored_bytes(self) -> int:
        """Bytes of all tensors, without padding and metadata."""
        return sum(tensor.stored_bytes for tensor in self.tensors)


def read_model(path: Path) -> Header:
    """The header of a model; of a split one (`-00001-of-00003.gguf`), of all its parts together.

    Raises GgufUnreadable, also when a part is missing or belongs to another model.
    """
    first = read_file(path)
    parts = first.metadata.get("split.count", 1)
    if not isinstance(parts, int) or parts <= 1:
        return first
    if first.metadata.get("split.no") != 0:
        raise GgufUnreadable(f"{path.name} is not the first part of its model.")
    tensors = list(first.tensors)
    for number, part in enumerate(_other_parts(path, parts), start=1):
        header = read_file(part, part=number)
        if header.metadata.get("split.no") != number:
            raise GgufUnreadable(f"{part.name} does not say that it is part {number + 1}.")
        tensors += header.tensors
    expected = first.metadata.get("split.tensors.count")
    if expected != len(tensors):
        raise GgufUnreadable(
            f"The parts of {path.name} hold {len(tensors)} tensors, and {expected} are announced."
        )
    _refuse_duplicates(tensors, path)
    return Header(first.metadata, tuple(tensors))


def _other_parts(path: Path, parts: int) -> Iterator[Path]:
    match = re.fullmatch(r"(.*)-00001-of-(\d{5})\.gguf", path.name)
    if match is None or int(match[2]) != parts or parts > PARTS_LIMIT:
        raise GgufUnreadable(
            f"{path.name} is part of a split model, and its name does not say so.",
            hint=f"Name the parts …-00001-of-{parts:05}.gguf and so on, and give the first.",
        )
    for number in range(2, parts + 1):
        part = path.with_name(f"{match[1]}-{number:05}-of-{parts:05}.gguf")
        if not part.is_file():
            raise GgufUnreadable(f"The part {part.name} of a split model is missing.")
        yield part


def read_file(path: Path, *, part: int = 0) -> Header:
    """The header of one file. Raises GgufUnreadable with what is wrong and where."""
    try:
        with path.open("rb") as file:
            return _Reader(file, path.name, part).header()
    except OSError as error:
        raise GgufUnreadable(f"{path.name} cannot be read: {error.strerror}.") from error


def _refuse_duplicates(tensors: list[Tensor], path: Path) -> None:
    names: set[str] = set()
    for tensor in tensors:
        if tensor.name in names:
            raise GgufUnreadable(f"{path.name} holds the tensor {_shown(tensor.name)} twice.")
        names.add(tensor.name)


def _shown(name: str) -> str:
    """A name out of the file, fit for a message."""
    return repr("".join(c if c.isprintable() else "?" for c in name[:60]))


# Types of metadata values (ggml/include/gguf.h): struct format of the fixed ones.
_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_UNPACK = {number: struct.Struct("<" + code) for number, code in _FIXED.items()}
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")


class _Reader:
    """A position in one file that can only move forward, and never past its end."""

    def __init__(self, file: BinaryIO, name: str, part: int) -> None:
        self.file = file
        self.name = name
        self.part = part
        self.size = os.fstat(file.fileno()).st_size
        self.position = 0
        self.kept_bytes = 0
        self.strings = 0

    def header(self) -> Header:
        if self.take(4) != MAGIC:
            raise self.error("is not a GGUF file")
        version = self.u32()
        if version not in (2, 3):
            swapped = version & 0xFFFF == 0
            raise self.error("is big-endian" if swapped else f"has GGUF version {version}")
        tensor_count = self.count(TENSORS_LIMIT, "tensors")
        key_count = self.count(KEYS_LIMIT, "metadata keys")
        metadata: dict[str, Value] = {}
        for _ in range(key_count):
            key = self.name_text()
            if key in metadata:
                raise self.error(f"holds the key {_shown(key)} twice")
            metadata[key] = self.value(self.u32(), NESTING_LIMIT)
        tensors = [self.tensor() for _ in range(tensor_count)]
        _refuse_duplicates(tensors, Path(self.name))
        self.check_data(metadata, tensors)
        return Header(metadata, tuple(tensors))

    # --- primitives ------------------------------------------------------------------------------

    def error(self, what: str) -> GgufUnreadable:
        return GgufUnreadable(f"{self.name} {what}.", hint="Download or convert the model again.")

    def advance(self, count: int) -> None:
        if count > self.size - self.position:
            raise self.error(f"is cut off: it ends in its header, after {self.size:,} bytes")
        self.position += count

    def take(self, count: int) -> bytes:
        self.advance(count)
        return self.file.read(count)

    def skip(self, count: int) -> None:
        self.advance(count)
        self.file.seek(count, os.SEEK_CUR)

    def u32(self) -> int:
        return int(_U32.unpack(self.take(4))[0])

    def u64(self) -> int:
        return int(_U64.unpack(self.take(8))[0])

    def count(self, limit: int, what: str) -> int:
        count = self.u64()
        if count > limit:
            raise self.error(
                f"announces {count:,} {what}, and more than {limit:,} are not believed"
            )
        return count

    def name_text(self) -> str:
        length = self.count(NAME_LIMIT_BYTES, "bytes of a name")
        return self.take(length).decode("utf-8", "replace")

    # --- metadata --------------------------------------------------------------------------------

    def value(self, kind: int, depth: int) -> Value:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self.array(depth)
        if kind not in _UNPACK:
            raise self.error(f"has a metadata value of unknown type {kind}")
        unpack = _UNPACK[kind]
        value: Scalar = unpack.unpack(self.take(unpack.size))[0]
        return value

    def text(self) -> str | None:
        length = self.u64()
        if length > TEXT_LIMIT_BYTES or self.kept_bytes + length > KEPT_LIMIT_BYTES:
            self.skip(length)
            return None
        self.kept_bytes += length
        return self.take(length).decode("utf-8", "replace")

    def array(self, depth: int) -> Value:
        """An array of up to ARRAY_LIMIT plain values; a longer or nested one is stepped over."""
        kind, length = self.u32(), self.u64()
        if kind in _UNPACK:
            unpack = _UNPACK[kind]
            if length > ARRAY_LIMIT:
                self.skip(length * unpack.size)
                return None
            return tuple(v[0] for v in unpack.iter_unpack(self.take(length * unpack.size)))
        if kind == _STRING:
            return self.strings_of(length)
        if kind != _ARRAY or depth == 0:
            raise self.error(f"has a metadata array of unknown type {kind}, or nested too deep")
        self.walk(length)
        for _ in range(length):
            self.array(depth - 1)
        return None

    def walk(self, length: int) -> None:
        self.strings += length
        if self.strings > STRINGS_LIMIT:
            raise self.error(f"holds more than {STRINGS_LIMIT:,} strings in its arrays")

    def strings_of(self, length: int) -> tuple[str, ...] | None:
        self.walk(length)
        if length <= ARRAY_LIMIT:
            texts = [self.text() for _ in range(length)]
            return tuple(text for text in texts if text is not None)
        for _ in range(length):
            self.skip(self.u64())
        return None

    # --- tensors ---------------------------------------------------------------------------------

    def tensor(self) -> Tensor:
        name = self.name_text()
        dimensions = self.u32()
        if not 1 <= dimensions <= DIMENSIONS_LIMIT:
            raise self.error(f"has a tensor {_shown(name)} with {dimensions} dimensions")
        shape = tuple(self.u64() for _ in range(dimensions))
        number, offset = self.u32(), self.u64()
        kind = TYPES.get(number)
        if kind is None:
            raise self.error(f"has a tensor {_shown(name)} of a type ({number}) not known here")
        if 0 in shape or shape[0] % kind.block:
            raise self.error(f"has a tensor {_shown(name)} of shape {shape}, not whole blocks")
        return Tensor(name, shape, kind, offset, self.part)

    def check_data(self, metadata: dict[str, Value], tensors: list[Tensor]) -> None:
        """Every tensor must lie inside the file: a broken download ends here, not in the engine."""
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
            raise self.error("has an impossible alignment")
        start = -(-self.position // alignment) * alignment
        for tensor in tensors:
            end = start + tensor.offset + tensor.stored_bytes
            if end > self.size:
                raise self.error(
                    f"is cut off: {_shown(tensor.name)} ends at byte {end:,} of {self.size:,}"
                )
