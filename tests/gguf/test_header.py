"""Reading a GGUF header: right where the file is honest, a sentence where it is not."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchspec.gguf import header as header_module
from benchspec.gguf.header import GgufUnreadable, read_file, read_model
from benchspec.gguf.quantisation import TYPES
from tests.gguf.conftest import (
    Write,
    array_value,
    gguf,
    raw_header,
    string_value,
    tensor_info,
    text,
    u32_value,
)

ARCH = {"general.architecture": string_value("llama"), "llama.block_count": u32_value(1)}


@pytest.fixture
def put(tmp_path: Path) -> Callable[[bytes], Path]:
    def write_bytes(data: bytes) -> Path:
        path = tmp_path / "model.gguf"
        path.write_bytes(data)
        return path

    return write_bytes


# --- honest files ---------------------------------------------------------------------------------


def test_tensors_and_metadata_are_those_that_the_gguf_package_reads(write: Write) -> None:
    path = write(
        "llama",
        {"block_count": 2, "feed_forward_length": [64, 128], "use": True},
        {"token_embd.weight": (64, 100), "blk.0.attn_norm.weight": (64,), "odd": (5, 3, 2)},
    )
    theirs = gguf.GGUFReader(path)
    ours = read_file(path)
    assert [(t.name, t.shape, t.kind.name, t.stored_bytes) for t in ours.tensors] == [
        (t.name, tuple(t.shape.tolist()), t.tensor_type.name, int(t.n_bytes))
        for t in theirs.tensors
    ]
    assert ours.metadata["llama.feed_forward_length"] == (64, 128)
    assert ours.metadata["llama.use"] is True
    assert ours.metadata["general.architecture"] == "llama"


def test_block_sizes_are_those_of_the_gguf_package() -> None:
    theirs = {int(kind): (kind.name, *size) for kind, size in gguf.GGML_QUANT_SIZES.items()}
    ours = {number: tuple(kind) for number, kind in TYPES.items()}
    assert {n: theirs[n] for n in ours if n in theirs} == {n: ours[n] for n in ours if n in theirs}
    assert set(theirs) - set(ours) == {9, 15}  # Q8_1 and Q8_K: activations, in no file


@pytest.mark.engine
def test_the_demo_model(smollm: Path) -> None:
    header = read_model(smollm)
    assert len(header.tensors) == 272 and header.stored_bytes == 96_576_768
    assert header.metadata["llama.block_count"] == 30
    assert header.metadata["tokenizer.ggml.tokens"] is None  # there, and too long to keep


def test_a_split_model_is_read_as_one(write: Write) -> None:
    shapes = [{"token_embd.weight": (32, 10)}, {"blk.0.attn_k.weight": (32, 8)}, {"x": (32, 1)}]
    for number, part in enumerate(shapes):
        split = {"split.no": number, "split.count": 3, "split.tensors.count": 3}
        write("llama", split, part, name=f"m-{number + 1:05}-of-00003.gguf")
    first = write("llama", {"split.no": 0, "split.count": 3, "split.tensors.count": 3}, shapes[0],
                  name="m-00001-of-00003.gguf")  # fmt: skip
    header = read_model(first)
    assert [(t.name, t.part) for t in header.tensors] == [
        ("token_embd.weight", 0),
        ("blk.0.attn_k.weight", 1),
        ("x", 2),
    ]
    with pytest.raises(GgufUnreadable, match="not the first part"):
        read_model(first.with_name("m-00002-of-00003.gguf"))
    first.with_name("m-00002-of-00003.gguf").unlink()
    with pytest.raises(GgufUnreadable, match=r"m-00002-of-00003\.gguf of a split model is missing"):
        read_model(first)


def test_parts_of_different_models_are_not_joined(write: Write) -> None:
    split = {"split.no": 0, "split.count": 2, "split.tensors.count": 9}
    first = write("llama", split, {"a": (32, 1)}, name="m-00001-of-00002.gguf")
    write("llama", split | {"split.no": 1}, {"b": (32, 1)}, name="m-00002-of-00002.gguf")
    with pytest.raises(GgufUnreadable, match="hold 2 tensors, and 9 are announced"):
        read_model(first)
    write("llama", split, {"b": (32, 1)}, name="m-00002-of-00002.gguf")
    with pytest.raises(GgufUnreadable, match="does not say that it is part 2"):
        read_model(first)


def test_a_split_model_under_another_name_is_said_to_be_one(write: Write) -> None:
    split = {"split.no": 0, "split.count": 2, "split.tensors.count": 2}
    with pytest.raises(GgufUnreadable, match="its name does not say so"):
        read_model(write("llama", split, {"a": (32, 1)}))


@pytest.mark.slow
def test_a_file_of_100_gb_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    vocabulary = b"".join(text(f"token{i}") for i in range(600_000))
    scores = struct.pack("<600000f", *([0.5] * 600_000))
    values = ARCH | {
        "tokenizer.ggml.tokens": array_value(8, 600_000, vocabulary),
        "tokenizer.ggml.scores": array_value(6, 600_000, scores),
    }
    size = 4096 * 12288 // 256 * 144  # Q4_K
    infos = [tensor_info(f"blk.{i}.x", (4096, 12288), 12, i * size) for i in range(3600)]
    data = raw_header(values, infos)
    with path.open("wb") as file:
        file.write(data)
        file.truncate(len(data) + 32 + 3600 * size)
    assert path.stat().st_size > 100e9
    tracemalloc.start()
    header = read_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(header.tensors) == 3600 and header.stored_bytes == 3600 * size
    assert peak < 20e6


# --- files that are not ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is cut off"),
        (b"GGU", "is cut off"),
        (b"<html>", "is not a GGUF file"),
        (raw_header(version=1), "has GGUF version 1"),
        (raw_header(version=4), "has GGUF version 4"),
        (b"GGUF" + struct.pack(">I", 3) + bytes(16), "is big-endian"),
        (raw_header(keys=1), "is cut off"),
        (raw_header(keys=1 << 60), "announces 1,152,921,504,606,846,976 metadata keys"),
        (raw_header(count=1 << 60), "announces 1,152,921,504,606,846,976 tensors"),
        (raw_header({"a": struct.pack("<I", 99)}), "unknown type 99"),
        (raw_header({"a": struct.pack("<IQ", 8, 1 << 62)}), "is cut off"),
        (raw_header({"a": array_value(4, 1 << 61, b"")}), "is cut off"),
        (raw_header({"a": array_value(4, 3, b"")}), "is cut off"),
        (raw_header({"a": array_value(8, 1 << 40, b"")}), "more than 4,000,000 strings"),
        (raw_header({"a": array_value(9, 1 << 40, b"")}), "more than 4,000,000 strings"),
        (raw_header({"a": array_value(77, 1, b"")}), "metadata array of unknown type 77"),
        (raw_header({"a": array_value(9, 1, struct.pack("<IQ", 9, 1) * 9)}), "nested too deep"),
        (raw_header({}, [tensor_info("t", (), 0, 0)]), "with 0 dimensions"),
        (raw_header({}, [tensor_info("t", (1,) * 9, 0, 0)]), "with 9 dimensions"),
        (raw_header({}, [tensor_info("t", (32,), 31, 0)]), r"of a type \(31\) not known"),
        (raw_header({}, [tensor_info("t", (31,), 8, 0)]), "not whole blocks"),
        (raw_header({}, [tensor_info("t", (0, 5), 0, 0)]), "not whole blocks"),
        (raw_header({}, [tensor_info("t", (32,), 0, 0)]), "is cut off: 't' ends at byte"),
        (raw_header({}, [tensor_info("t", (1 << 63, 1 << 63), 0, 0)]), "is cut off: 't'"),
        (raw_header({}, [tensor_info("t", (1,), 0, 0)] * 2) + bytes(64), "the tensor 't' twice"),
        (raw_header({"a": u32_value(1), "": b""}, keys=2), "is cut off"),
        (raw_header({"general.alignment": u32_value(0)}), "impossible alignment"),
        (raw_header({"general.alignment": string_value("8")}), "impossible alignment"),
    ],
)  # fmt: skip
def test_a_file_that_lies_is_refused_with_a_sentence(
    put: Callable[[bytes], Path], data: bytes, says: str
) -> None:
    with pytest.raises(GgufUnreadable, match=says) as caught:
        read_file(put(data))
    assert caught.value.message.startswith("model.gguf ") and caught.value.exit_code == 2


def test_a_key_twice_is_refused(put: Callable[[bytes], Path]) -> None:
    twice = raw_header({"a": u32_value(1) + text("a") + u32_value(2)}, keys=2)
    with pytest.raises(GgufUnreadable, match="holds the key 'a' twice"):
        read_file(put(twice))


def test_what_is_too_long_to_keep_is_stepped_over(
    put: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header_module, "TEXT_LIMIT_BYTES", 10)
    values = {
        "long": string_value("x" * 11),
        "nested": array_value(9, 2, struct.pack("<IQ", 4, 1) * 2 + bytes(0))[:0]
        + array_value(9, 2, (struct.pack("<IQ", 4, 1) + bytes(4)) * 2),
        "many": array_value(0, 5000, bytes(5000)),
        "short": string_value("y"),
    }
    metadata = read_file(put(raw_header(values))).metadata
    assert metadata == {"long": None, "nested": None, "many": None, "short": "y"}


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(GgufUnreadable, match=r"no\.gguf cannot be read: No such file"):
        read_file(tmp_path / "no.gguf")


GOOD = raw_header(
    ARCH | {"a": array_value(8, 2, text("x") + text("y")), "f": array_value(6, 2, bytes(8))},
    [tensor_info("token_embd.weight", (32, 4), 8, 0), tensor_info("n", (4,), 0, 160)],
) + bytes(256)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(cut=st.integers(0, len(GOOD)), at=st.integers(0, len(GOOD) - 1), byte=st.integers(0, 255))
def test_no_damage_gets_past_the_reader(
    put: Callable[[bytes], Path], cut: int, at: int, byte: int
) -> None:
    for data in (GOOD[:cut], GOOD[:at] + bytes([byte]) + GOOD[at + 1 :]):
        try:
            read_file(put(data))
        except GgufUnreadable as error:
            assert len(error.message) < 400 and error.message.isprintable()
