"""What a spec would execute, read, fetch and contact, and which of that asks for `--trust`.

A spec is downloaded from a blog and run; its author is a stranger. What benchspec brings itself
(the embedded engine), what the spec pins by its digest, and what lies in the spec's own folder and
is not executed, is shown. Everything else is shown and asked for, once per spec.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchspec.errors import BenchspecError, StorageFailure
from benchspec.knowledge import programs
from benchspec.run.launches import PlannedLaunch
from benchspec.run.plan import Plan
from benchspec.telemetry import dmon

_SAFE_ENV = re.compile(
    r"(LLAMA_ARG|CUDA|NVIDIA|HIP|ROCR|HSA|GGML_CUDA|GGML_VK|OMP|KMP|VLLM|SGLANG|NCCL|MKL|OPENBLAS)_\w+"
)
"""Variables of engines and their libraries that hold numbers and words; `LD_PRELOAD`, `PYTHONPATH`
and their like run code."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_FETCHING = re.compile(
    r"(hf|docker)-(repo|file)|(model|mmproj|lora)-url|(hf|docker)-.*|.*-(url|hf)$"
)
"""Settings by which an engine downloads something on its own."""


@dataclass(frozen=True)
class Act:
    """One thing that a run would do. `why` says why it is asked for; None = only shown."""

    text: str
    why: str | None = None


def acts(plan: Plan, folder: Path) -> list[Act]:
    """Everything that the plan executes, reads, fetches and contacts, without repetition.

    `folder` is the spec's own; links are resolved before a path is judged.
    """
    found = [act for launch in plan.launches.values() for act in _of_launch(launch, folder)]
    files = {cell.work.prompt_file for cell in plan.cells} - {None}
    found += [_file("reads prompts from", str(name), folder) for name in sorted(map(str, files))]
    return list(dict.fromkeys(Act(_shown(act.text), act.why) for act in found))


def telemetry_acts(sources: Iterable[str]) -> list[Act]:
    """What the sources of telemetry execute: one of them is a program of the driver."""
    return [Act(f"executes {' '.join(dmon.COMMAND)}")] if "dmon" in sources else []


def _shown(text: str) -> str:
    """What a terminal would take for a command is escaped: what is read is what is executed."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _of_launch(launch: PlannedLaunch, folder: Path) -> Iterator[Act]:
    if launch.attach is not None:
        yield _contact(launch)
        if launch.log is not None:
            yield _file("reads the server's log", launch.log, folder)
        return
    yield _execution(launch)
    yield from (_variable(name, value) for name, value in launch.env.items())
    yield from _flag_acts(launch, folder)
    yield from _model(launch, folder)


def _contact(launch: PlannedLaunch) -> Act:
    address = str(launch.attach)
    key = f" with the key in ${launch.api_key_env}" if launch.api_key_env else ""
    text = f"contacts {address}{key}"
    if is_loopback(_host_of(address)):
        return Act(text)
    return Act(text, "requests leave this machine")


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """True when a host name or address is this machine itself."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _execution(launch: PlannedLaunch) -> Act:
    if launch.kind == "command":
        return Act(f"executes {launch.command}", "it is an arbitrary command")
    line = " ".join([launch.executable, *launch.argv])
    if launch.binary in (None, "embedded"):
        return Act(f"executes {line}")
    binary = str(launch.binary)
    if os.sep in binary:
        return Act(f"executes {line}", "it is a program named by its path")
    if programs.PROGRAMS.get(binary) != launch.kind:
        return Act(f"executes {line}", f"{binary} is not a known program of {launch.kind}")
    return Act(f"executes {line}")


def _variable(name: str, value: str) -> Act:
    text = f"sets {name}={value}"
    if not _SAFE_ENV.fullmatch(name) or os.sep in value:
        return Act(text, "this variable can make the engine load other code or files")
    return Act(text)


def _flag_acts(launch: PlannedLaunch, folder: Path) -> Iterator[Act]:
    """Flags by which an engine reads or writes files, or downloads, on its own."""
    for name, value in launch.asked.items():
        text = f"passes {name}={value}"
        if _FETCHING.fullmatch(name) or _URL.match(str(value)):
            yield Act(text, "the engine would download it, and nothing pins it")
        elif isinstance(value, str) and _outside(value, folder):
            yield Act(text, "it is a path outside the spec's folder")


def _model(launch: PlannedLaunch, folder: Path) -> Iterator[Act]:
    source = launch.model_source
    if source is None or source == "served":
        return
    scheme, _, name = source.partition(":")
    if scheme == "file":
        yield _file("reads the model", name, folder)
    elif launch.model_sha256:
        yield Act(f"fetches {source}, pinned by SHA-256 {launch.model_sha256[:12]}...")
    else:
        yield Act(f"fetches {source}", "no sha256 pins it")


def _file(verb: str, name: str, folder: Path) -> Act:
    if _outside(name, folder, plain_is_inside=False):
        return Act(f"{verb} {name}", "it lies outside the spec's folder")
    return Act(f"{verb} {name}")


def _outside(name: str, folder: Path, *, plain_is_inside: bool = True) -> bool:
    """True when `name`, seen from `folder`, leads out of it; words without a slash do not."""
    if plain_is_inside and os.sep not in name and ".." not in name and not name.startswith("~"):
        return False
    path = (folder / Path(name)).resolve()
    return name.startswith("~") or not path.is_relative_to(folder.resolve())


def asked_for(done: Iterable[Act]) -> list[Act]:
    """The acts that need `--trust`."""
    return [act for act in done if act.why is not None]


def require(done: Iterable[Act], *, given: bool, spec_sha256: str, state: Path) -> None:
    """Pass when nothing is asked for, `--trust` was given, or was given before for these bytes.

    Raises BenchspecError otherwise.
    """
    asking = asked_for(done)
    if not asking or given or _mark(state, spec_sha256).is_file():
        return
    lines = "".join(f"\n  {act.text}: {act.why}" for act in asking)
    raise BenchspecError(
        f"This spec asks for something that a stranger's file should not get unseen:{lines}",
        hint="Read it; if you want it, run again with --trust. It is remembered for exactly this "
        "spec.",
    )


def remember(spec_sha256: str, state: Path) -> None:
    """Keep that this spec is trusted. Raises StorageFailure."""
    mark = _mark(state, spec_sha256)
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise StorageFailure(
            f"Trust in this spec could not be remembered in {mark.parent}: {error.strerror}.",
            hint="Set XDG_STATE_HOME to a folder where you may write.",
        ) from error


def state_folder(environ: Mapping[str, str]) -> Path:
    """Where benchspec remembers things between runs: `$XDG_STATE_HOME/benchspec`."""
    base = environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    return Path(base) / "benchspec"


def _mark(state: Path, spec_sha256: str) -> Path:
    return state / "trusted" / spec_sha256
