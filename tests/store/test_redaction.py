"""What is taken out, and what must not be."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from benchspec.store.redaction import Redactor, of_this_machine


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/ada/models/m.gguf", "~/models/m.gguf"),
        ("file:///home/ada", "file://~"),
        ("/home/adamant/x", "/home/adamant/x"),
        ("listening on lovelace:8080", "listening on [host]:8080"),
        ("LOVELACE.local", "[host].local"),
        ("/data/ada_models", "/data/[user]_models"),
        ("adapter loaded on armada", "adapter loaded on armada"),
        ("Authorization: Bearer sk-1+2", "Authorization: Bearer [key]"),
    ],
)
def test_text(text: str, expected: str) -> None:
    redactor = Redactor(keys=["sk-1+2"], paths=["/home/ada"], hosts=["lovelace"], users=["ada"])
    assert redactor.text(text) == expected


def test_the_longer_of_two_keys_is_replaced_first() -> None:
    assert Redactor(keys=["abc", "abcdef"]).text("abcdef abc") == "[key] [key]"


def test_nothing_is_replaced_by_an_empty_string() -> None:
    assert Redactor(keys=[""], paths=[""], hosts=[""], users=[""]).text("as it was") == "as it was"


def test_identifiers_join_records_and_stay() -> None:
    redactor = Redactor(hosts=["parallel"])
    assert redactor.data([{"name": "parallel", "found": "parallel"}]) == [
        {"name": "parallel", "found": "[host]"}
    ]


def test_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "lovelace.example")
    environ = {"HOME": "/home/ada", "USER": "ada", "MY_KEY": "sk-secret"}
    redactor = of_this_machine(environ, ["MY_KEY", "NOT_SET"])
    said = redactor.text("ada@lovelace.example: cat /home/ada/x sk-secret; ping lovelace")
    assert said == "[user]@[host]: cat ~/x [key]; ping [host]"


def test_a_name_that_says_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    assert of_this_machine({"HOME": "/", "USER": "root"}).text("root / localhost") == (
        "root / localhost"
    )


def test_folders_of_the_run_are_written_from_there_on(tmp_path: Path) -> None:
    redactor = of_this_machine({}, folder=tmp_path)
    assert redactor.text(f"-m {tmp_path}/x.gguf") == "-m ./x.gguf"
    assert redactor.text(sys.executable).startswith("[python]/")
    assert redactor.text(f"{tmp_path}-other/x") == f"{tmp_path}-other/x"
