"""A scripted libnvidia-ml.so, built here, and the real nvidia-ml-py on top of it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pynvml
import pytest

LOST = 15
NO_PERMISSION = 4
UNSIGNED_INT, UNSIGNED_LONG_LONG = 1, 3

HEALTHY = {
    "memory_used": 18_890 * 2**20,
    "memory_total": 32 * 2**30,
    "power": 212_500,
    "power_limit": 250_000,
    "temperature": 63,
    "clock_sm": 1380,
    "clock_memory": 1107,
    "max_clock_sm": 1530,
    "max_clock_memory": 1107,
    "bus": 4096,
    "gen": 3,
    "lanes": 16,
    "max_gen": 3,
    "max_lanes": 16,
    "processes": 1,
    "reasons": 0x4,
    "rates_gpu": 97,
    "rates_memory": 55,
    "field83": 1_000_000,
    "field74": 0,
    "field75": 0,
    "field197": 0,
    "field198": 0,
}
"""What a card answers that has everything but NVLink, memory temperature and buffered samples."""


class Stub:
    """The script of the stub; see stub_nvml.c."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def cards(self, *names: str) -> None:
        """Forget everything; then so many healthy cards."""
        self._library.stub_reset(len(names))
        for number, name in enumerate(names):
            self._library.stub_name(number, name.encode())
            for key, value in HEALTHY.items():
                self.set(number, key, value)

    def set(self, card: int, key: str, value: float) -> None:
        self._library.stub_set(card, key.encode(), ctypes.c_double(value))

    def rate(self, card: int, key: str, start: float, per_s: float) -> None:
        self._library.stub_rate(card, key.encode(), ctypes.c_double(start), ctypes.c_double(per_s))

    def type(self, card: int, key: str, kind: int) -> None:
        self._library.stub_type(card, key.encode(), kind)

    def fail(self, card: int, key: str, code: int) -> None:
        self._library.stub_fail(card, key.encode(), code)

    def sample(self, card: int, buffer: int, stamp_us: int, value: int) -> None:
        self._library.stub_sample(card, buffer, ctypes.c_ulonglong(stamp_us), value)

    def gpm_samples(self) -> int:
        """Samples that were allocated and not given back."""
        count: int = self._library.stub_gpm_samples()
        return count

    def refuse(self, code: int) -> None:
        """NVML itself does not start."""
        self._library.stub_init(code)


@pytest.fixture(scope="session")
def stub_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled stub, under the name that nvidia-ml-py looks for."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler (gcc) to build the stub of NVML with")
    source = Path(__file__).with_name("stub_nvml.c")
    path = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        "-o",
        str(path),
        str(source),
    ]
    subprocess.run(command, check=True, timeout=60)
    return path


@pytest.fixture
def stub(stub_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """The stub as the NVML of this process; one healthy card until a test says otherwise."""
    library = ctypes.CDLL(str(stub_path))
    monkeypatch.setattr(pynvml, "nvmlLib", library)
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    script = Stub(library)
    script.cards("Tesla PG500-216")
    yield script
    library.stub_reset(0)
