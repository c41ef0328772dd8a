"""Safe fixes touch only the characters of the change: comments, order and layout stay."""

from __future__ import annotations

from difflib import ndiff
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchspec.cli import lint as cli
from benchspec.lint.edits import apply
from benchspec.lint.fixer import fixed
from benchspec.lint.fixes import Append, Extend, Put
from benchspec.spec.problems import Path as YamlPath
from benchspec.spec.source import Document, parse
from tests.lint.specs import linted, over_base


def document(text: str) -> Document:
    return parse(text.encode(), "spec.yaml")


def put(text: str, path: YamlPath, key: str, value: str) -> str | None:
    return apply(document(text), Put(path, key, value))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m: {a: 1}\n", "m: {a: 1, k: v}\n"),
        ("m: {a: 1} # why\n", "m: {a: 1, k: v} # why\n"),
        ("m: {}\n", "m: {k: v}\n"),
        ("m: { a: [1, 2] }\n", "m: { a: [1, 2], k: v }\n"),
        ("m:\n  a: 1  # one\n  b: 2\nn: 3\n", "m:\n  a: 1  # one\n  b: 2\n  k: v\nn: 3\n"),
        ("m:\n  a: 1", "m:\n  a: 1\n  k: v"),
        ("m:\r\n  a: 1\r\nn: 3\r\n", "m:\r\n  a: 1\r\n  k: v\r\nn: 3\r\n"),
        (
            "m:\n  a: 1\n  b: |\n    x\n    y\nn: 1\n",
            "m:\n  a: 1\n  k: v\n  b: |\n    x\n    y\nn: 1\n",
        ),
        ("m:\nn: 3\n", "m: {k: v}\nn: 3\n"),
        ("m: {k: old}\n", "m: {k: v}\n"),
        ("m:\n  k: old  # was\n", "m:\n  k: v  # was\n"),
        ("n: 1\n", "n: 1\nm: {k: v}\n"),
    ],
)
def test_a_key_is_put_into_a_map(before: str, after: str) -> None:
    assert put(before, ("m",), "k", "v") == after
    assert document(after).data["m"]["k"] == "v"


def test_a_map_with_no_line_to_stand_beside_is_left_alone() -> None:
    assert put("m:\n  a:\n    b: 1\n", ("m",), "k", "v") is None


@pytest.mark.parametrize(
    ("before", "item", "after"),
    [
        ("s: [1, 2, 4]\n", 8, "s: [1, 2, 4, 8]\n"),
        ("s: [1, 2, 16]  # up\n", 8, "s: [1, 2, 8, 16]  # up\n"),
        ("s: [2, 4]\n", 1, "s: [1, 2, 4]\n"),
        ("s:\n  - 1  # alone\n  - 4\nn: 1\n", 8, "s:\n  - 1  # alone\n  - 4\n  - 8\nn: 1\n"),
        ("s:\n  - 2\n  - 4\n", 1, "s:\n  - 1\n  - 2\n  - 4\n"),
        ("s: 4\n", 8, "s: [4, 8]\n"),
    ],
)
def test_a_number_is_put_into_a_list(before: str, item: int, after: str) -> None:
    assert apply(document(before), Extend(("s",), item)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c: run -a 1\n", "c: run -a 1 -b 2\n"),
        ("c: run -a 1  # why\n", "c: run -a 1 -b 2  # why\n"),
        ('c: "run -a 1"\n', 'c: "run -a 1 -b 2"\n'),
        ("c: 'run'\n", "c: 'run -b 2'\n"),
        ("c: run | tee log\n", None),
        ("c: >-\n  run\n  -a 1\n", None),
    ],
)
def test_words_are_added_to_a_command(before: str, after: str | None) -> None:
    assert apply(document(before), Append(("c",), "-b 2")) == after


FIXABLE = {
    "engine:\n  kind: llama.cpp\n  binary: llama-server\n  version: b11434\n"
    '  flags: {ctx-size: 8192, n-gpu-layers: 99, fit: "off"}  # eight thousand\n': [
        '+   flags: {ctx-size: 8192, n-gpu-layers: 99, fit: "off", parallel: 4}  # eight thousand'
    ],
    "engine:\n  kind: llama.cpp\n  binary: llama-server\n  version: b11434\n"
    "  flags:\n    np: 4\n    c: 8192  # eight thousand\n    ngl: 99\n": ['+     fit: "off"'],
    "engine:\n  kind: llama.cpp\n  version: b11434\n"
    "  command: llama-server -m x.gguf -c 8192 -ngl 99\n": [
        "+   command: llama-server -m x.gguf -c 8192 -ngl 99 --parallel 4 --fit off"
    ],
    "load:\n  mode: burst\n  concurrency: [2, 4]  # pairs\n": [
        "+   concurrency: [1, 2, 4, 8]  # pairs"
    ],
    "workload:\n  label: {material: code, context_tokens: 128, speculation: none}\n"
    "  prompt: {tokens: 64}\n  output: {tokens: 64}\n": ["+   output: {tokens: 64, forced: true}"],
    "telemetry:\n  sources: [nvml]\n  counters: [pcie]\n  idle_baseline: 8 s\n"
    "  statistic: {pcie: median}\n": ["+   statistic: {pcie: mean}"],
    "warmup: {requests: 0}  # cold\n": ["+ warmup: {requests: 2}  # cold"],
}


@pytest.mark.parametrize("snippet", FIXABLE, ids=lambda text: text.partition(":")[0])
def test_a_fixed_spec_is_clean_and_differs_in_one_line(snippet: str) -> None:
    before = document(over_base(snippet))
    result = fixed(before)
    assert not result.findings
    changed = ndiff(before.text.split("\n"), result.document.text.split("\n"))
    assert [line for line in changed if line.startswith("+ ")] == FIXABLE[snippet]


def test_fixes_are_made_one_after_the_other() -> None:
    """Declared slots show that the sweep is too short, which is then extended."""
    snippet = (
        "engine: {kind: llama.cpp, binary: llama-server, version: b1, flags: {c: 8192, ngl: 99}}\n"
        "load: {mode: burst, concurrency: [1, 2]}\n"
    )
    result = fixed(document(over_base(snippet)))
    assert 'flags: {c: 8192, ngl: 99, parallel: 4, fit: "off"}' in result.document.text
    assert "concurrency: [1, 2, 8]" in result.document.text


def test_a_waived_finding_is_not_fixed() -> None:
    text = over_base("warmup: {requests: 0}\nwaivers: [{rule: no-warmup, reason: a cold start}]\n")
    assert fixed(document(text)).document.text == text


def test_what_has_no_fix_stays() -> None:
    text = over_base("repeats: 1\n")
    assert fixed(document(text)).document.text == text
    assert linted(text).errors


def test_a_byte_order_mark_and_the_line_ends_stay() -> None:
    text = over_base("warmup: {requests: 0}\n").replace("\n", "\r\n")
    result = fixed(parse(b"\xef\xbb\xbf" + text.encode(), "spec.yaml"))
    assert result.document.raw == b"\xef\xbb\xbf" + text.replace(": 0}", ": 2}").encode()


def test_fix_writes_the_file_and_diff_does_not(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(over_base("load: {mode: burst, concurrency: [1, 2, 4]}\n"))
    before = file.read_text()
    shown = CliRunner().invoke(cli.command, [str(file), "--diff"])
    assert shown.exit_code == 1
    assert "+load: {mode: burst, concurrency: [1, 2, 4, 8]}\n" in shown.stdout
    assert file.read_text() == before
    done = CliRunner().invoke(cli.command, [str(file), "--fix"])
    assert done.exit_code == 0
    assert file.read_text() == before.replace("[1, 2, 4]", "[1, 2, 4, 8]")
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]
