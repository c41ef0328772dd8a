"""The command line as a whole: help, unknown words, and how a failure leaves."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from benchspec.cli.main import COMMANDS, cli


def benchspec(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchspec", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | env,
        timeout=60,
        check=False,
    )


def commands(name: str) -> list[click.Command]:
    """A command of the table, or those under it."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return [command, *command.commands.values()] if isinstance(command, click.Group) else [command]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    for command in commands(name):
        assert command.help, "a sentence that says what it does"
        assert examples_of(command), "an example to copy"


def examples_of(command: click.Command) -> list[str]:
    """The commands under "Examples:" in a help text, as they stand there."""
    lines = command.get_help(click.Context(command, terminal_width=60)).splitlines()
    return [line.strip() for line in lines[lines.index("  Examples:") :] if "benchspec " in line]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_is_one_line_that_the_command_line_accepts(name: str) -> None:
    for line in (line for command in commands(name) for line in examples_of(command)):
        words = shlex.split(re.sub(r"^eval \"\$\((.*)\)\"$", r"\1", line))
        if words[0] != "benchspec":
            continue
        words = list(itertools.takewhile(lambda word: word not in (">", "|"), words))
        assert words[:2] == ["benchspec", name], line
        accepted(cli.get_command(click.Context(cli), name), words[2:])


def accepted(command: click.Command | None, words: list[str]) -> None:
    """Raises where `command` does not take `words`."""
    assert command is not None
    if isinstance(command, click.Group):
        accepted(command.get_command(click.Context(command), words[0]), words[1:])
    else:
        command.make_context(command.name, words)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_speaks_json_or_writes_a_script(name: str) -> None:
    for command in commands(name):
        options = {text for parameter in command.params for text in parameter.opts}
        assert "--json" in options or name == "completion" or isinstance(command, click.Group)


def test_every_module_of_a_command_exists() -> None:
    for module, _ in COMMANDS.values():
        assert importlib.util.find_spec(f"benchspec.cli.{module}"), module


def test_help_lists_the_commands_and_the_exit_codes() -> None:
    text = benchspec("--help").stdout
    assert "lint" in text and "verify" in text and "Exit" in text


def test_an_unknown_command_suggests_the_nearest() -> None:
    done = benchspec("lnit")
    assert done.returncode == 2
    assert "did you mean 'lint'" in done.stderr


@pytest.mark.parametrize("word", ["version", "help"])
def test_words_of_other_tools_lead_to_the_option(word: str) -> None:
    assert f"did you mean '--{word}'" in benchspec(word).stderr


def test_the_version_has_the_short_option_of_other_tools() -> None:
    assert benchspec("-V").stdout == benchspec("--version").stdout != ""


@pytest.mark.parametrize("arguments", [["run"], ["lint", "--jsno"], ["schema", "--of", "x"]])
def test_a_wrong_command_line_has_the_form_of_every_failure(arguments: list[str]) -> None:
    done = benchspec(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith(f"  help: benchspec {arguments[0]} --help\n")


def test_without_arguments_the_help_is_shown_and_nothing_else() -> None:
    done = benchspec()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: ")


def test_a_spec_from_standard_input_can_be_planned() -> None:
    spec = Path("specs/quickstart/spec.yaml")
    line = f"cat {spec} | {sys.executable} -m benchspec plan -"
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == benchspec("plan", str(spec)).stdout != ""


def test_a_closed_pipe_is_no_traceback() -> None:
    line = f"{sys.executable} -m benchspec schema | head -c 10"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_no_colour_where_none_is_wanted() -> None:
    assert "\x1b[" not in benchspec("lint", "nothing.yaml", NO_COLOR="1").stderr


@pytest.mark.parametrize("command", ["lint", "plan", "run", "verify", "report", "resume", "model"])
def test_a_path_that_cannot_be_is_a_sentence(command: str) -> None:
    done = benchspec(command, "x" * 300)
    assert done.returncode == 2
    assert "File name too long" in done.stderr and "a defect" not in done.stderr


def test_the_exit_code_that_a_command_ends_with_is_the_programs(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text("not a map")
    assert benchspec("next", str(tmp_path / "spec.yaml")).returncode == 1
    assert benchspec("--help").returncode == 0


def test_messages_without_a_reader_change_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "benchspec", "lint", "no-such-file.yaml"]
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with os.fdopen(writing, "w") as nobody:
        done = subprocess.run(command, stderr=nobody, env=environ, timeout=60, check=False)
    assert done.returncode == 2
