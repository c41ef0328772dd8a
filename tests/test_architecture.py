"""The shape of the package: who may import whom, and how long anything may get.

    spec.yaml -> lint -> plan -> run -> bundle -> observations -> judge -> report

Rooms not named in `MAY_IMPORT` (run, cli) wire the others together and may import all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "benchspec"

MAY_IMPORT = {
    "knowledge": set(),
    "spec": set(),
    "gguf": {"knowledge"},
    "lint": {"spec", "knowledge"},
    "engines": {"spec", "knowledge", "store.records"},
    "load": {"spec", "knowledge", "store.records", "engines.base"},
    "telemetry": {"spec", "knowledge", "store.records", "store.tracks"},
    "store": {"spec", "knowledge"},
    "observations": {"spec", "store"},
    "judge": {"spec", "observations", "knowledge"},
    "report": {"judge", "observations", "spec"},
}
"""Room -> the rooms (or modules) of ours that it may import, besides itself and `errors`."""

IO_MODULES = {"os", "io", "pathlib", "socket", "subprocess", "shutil", "tempfile", "httpx", "sys"}
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60


def sources(room: str = "") -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def allowed(name: str, room: str) -> bool:
    rest = name.removeprefix("benchspec").lstrip(".")
    if rest in {"", "__version__"} or rest.split(".")[0] in {"errors", room}:
        return True
    return any(rest == ok or rest.startswith(ok + ".") for ok in MAY_IMPORT[room])


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_what_the_data_flow_allows(room: str) -> None:
    offences = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path, tree in sources(room)
        for name in imported(tree)
        if name.split(".")[0] == "benchspec"
        and not allowed(name, room)
        # `from benchspec.store import records` names the parent first: judge the longer name.
        and not any(allowed(n, room) for n in imported(tree) if n.startswith(name + "."))
    ]
    assert not offences


def test_every_room_is_known() -> None:
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert rooms <= set(MAY_IMPORT) | {"run", "cli"}


def test_the_judge_opens_nothing() -> None:
    for path, tree in sources("judge"):
        used = {name.split(".")[0] for name in imported(tree)}
        assert not used & IO_MODULES, path
        calls = {
            n.func.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        assert not calls & {"open", "print", "input", "exec", "eval"}, path


def test_files_stay_short() -> None:
    long = {
        str(path.relative_to(PACKAGE)): count
        for path, _ in sources()
        if (count := path.read_text("utf-8").count("\n")) > MAX_FILE_LINES
    }
    assert not long


def test_functions_stay_short() -> None:
    long = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert not long


def test_public_functions_say_what_they_do() -> None:
    silent = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path, tree in sources()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    assert not silent
