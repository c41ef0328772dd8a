"""GGUF files made here: honest ones with the `gguf` package, others byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from benchspec.engines.model_file import resolve
from tests.engines.conftest import SHA256, SOURCE

gguf = pytest.importorskip("gguf")

Shapes = dict[str, tuple[int, ...]]
Write = Callable[..., Path]


@pytest.fixture(scope="session")
def smollm() -> Path:
    """The demo model, from the user's cache."""
    model = resolve(SOURCE, sha256=SHA256, spec_dir=Path.cwd())
    assert model is not None
    return model.path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(arch, metadata, shapes)`: a model file; shapes are in ggml's order, row length first.

    Tensors are Q8_0 where a row is whole blocks of 32 and the name does not speak of a norm, else
    F32. With `parts`, the shapes are those of each part of a split model, and the first is returned.
    """

    def one(
        arch: str, metadata: Mapping[str, object], shapes: Shapes, *, name: str = "model.gguf"
    ) -> Path:
        path = tmp_path / name
        writer = gguf.GGUFWriter(path, arch)
        for key, value in metadata.items():
            add(
                writer,
                key if "." in key and key.split(".")[0] == "split" else f"{arch}.{key}",
                value,
            )
        for tensor, shape in shapes.items():
            rows = tuple(reversed(shape))
            if shape[0] % 32 == 0 and "norm" not in tensor:
                blocks = np.zeros((*rows[:-1], shape[0] // 32 * 34), dtype=np.uint8)
                writer.add_tensor(tensor, blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            else:
                writer.add_tensor(tensor, np.zeros(rows, dtype=np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return one


def add(writer: object, key: str, value: object) -> None:
    """Write one metadata value with the type that llama.cpp's converter gives it."""
    if isinstance(value, bool):
        writer.add_bool(key, value)  # type: ignore[attr-defined]
    elif isinstance(value, int):
        writer.add_uint32(key, value)  # type: ignore[attr-defined]
    elif isinstance(value, list):
        writer.add_array(key, value)  # type: ignore[attr-defined]
    else:
        raise TypeError(value)


# --- byte by byte ---------------------------------------------------------------------------------


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def string_value(value: str) -> bytes:
    return struct.pack("<I", 8) + text(value)


def u32_value(value: int) -> bytes:
    return struct.pack("<II", 4, value)


def array_value(kind: int, length: int, content: bytes) -> bytes:
    return struct.pack("<IIQ", 9, kind, length) + content


def tensor_info(name: str, shape: Sequence[int], kind: int, offset: int) -> bytes:
    dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + dimensions + struct.pack("<IQ", kind, offset)


def raw_header(
    values: Mapping[str, bytes] | None = None,
    tensors: Sequence[bytes] = (),
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    keys: int | None = None,
    count: int | None = None,
) -> bytes:
    """A header as bytes; the counts may lie."""
    values = values or {}
    keys = len(values) if keys is None else keys
    count = len(tensors) if count is None else count
    body = b"".join(text(key) + value for key, value in values.items()) + b"".join(tensors)
    return magic + struct.pack("<IQQ", version, count, keys) + body
