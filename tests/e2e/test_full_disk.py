"""A full disk, at the start, in the middle and at the end: a sentence, exit 3, cells kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Cli, Running, cells

pytestmark = pytest.mark.engine

Start = Callable[..., Running]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts a tmpfs of so many MB; only root can."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(size_mb: int) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "none", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("mounting a tmpfs is not allowed here")
        return folder

    yield mount
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def test_too_small_from_the_start(cli: Cli, small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(1)
    done = cli("run", cli.spec(), "--output", disk, exit_code=3)
    assert "The disk is full, or nearly" in done.stderr
    assert list(disk.iterdir()) == []


def test_filled_in_the_middle(cli: Cli, start: Start, small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(8)
    run = start("run", cli.spec(), "--output", disk)
    run.until(event="cell-ended")
    fill(disk / "filler")
    said = run.wait(exit_code=3)
    assert "The disk is full" in said
    (bundle,) = [path for path in disk.iterdir() if path.is_dir()]
    assert f"benchspec resume {bundle}" in said
    kept = cells(bundle)
    assert kept
    assert all(cell["state"] == "done" for cell in kept)

    (disk / "filler").unlink()
    cli("resume", bundle)
    assert cells(bundle)[: len(kept)] == kept
    cli("verify", bundle)


def fill(path: Path) -> None:
    """Take what is left of the disk, to the last byte."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def test_files_may_not_grow_beyond_a_limit(cli: Cli) -> None:
    """A quota: everything is measured, and the report does not fit."""
    limited = (
        "import resource, runpy, sys;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
        "sys.argv = ['benchspec', *sys.argv[1:]];"
        "runpy.run_module('benchspec', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "run", str(cli.spec())],
        cwd=cli.folder,
        env=cli.environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "The disk is full" in done.stderr
    assert len(cells(cli.bundle())) == 6
    assert not (cli.bundle() / "MANIFEST.sha256").exists()
    cli("resume", cli.bundle())
    cli("verify", cli.bundle())
