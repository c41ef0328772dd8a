"""`benchspec lint` and `benchspec explain` as they are called: streams, formats, exit codes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from benchspec.cli import explain, lint
from benchspec.errors import UsageError
from benchspec.judge.checks import CHECKS
from benchspec.lint.vocabulary import READINGS
from benchspec.spec.models import Hypothesis
from tests.lint.specs import BASE, over_base

BAD = over_base("repeats: 1\n")
WEAK = over_base("unfinished: []\n")


def run(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(lint.command, args, input=stdin)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.yaml").write_text(BASE)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "bad.yml").write_text(BAD)
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    return tmp_path


def test_a_good_spec_is_exit_0(folder: Path) -> None:
    done = run(str(folder / "good.yaml"))
    assert done.exit_code == 0
    assert done.stdout == "no findings in 1 file\n"
    assert done.stderr.startswith("next: benchspec plan")


def test_an_error_is_exit_1_and_names_rule_and_line(folder: Path) -> None:
    done = run(str(folder / "deep" / "bad.yml"))
    assert done.exit_code == 1
    line = BAD.split("\n").index("repeats: 1") + 1
    assert f"bad.yml:{line}:10" in done.stdout
    assert "error[BS505] single-run" in done.stdout
    assert done.stderr == "next: benchspec explain BS505\n"


def test_a_warning_fails_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "weak.yaml").write_text(WEAK)
    assert run(str(tmp_path / "weak.yaml")).exit_code == 0
    assert run(str(tmp_path / "weak.yaml"), "--fail-on", "warning").exit_code == 1


@pytest.mark.parametrize("module", [m for m in CHECKS if m.NAME != "gate"], ids=lambda m: m.NAME)
def test_a_check_says_how_a_hypothesis_asks_for_it(module: ModuleType) -> None:
    said = CliRunner().invoke(explain.command, [module.NAME]).stdout
    (hypothesis,) = yaml.safe_load(said.partition("In a spec\n")[2])["hypotheses"]
    test = Hypothesis.model_validate(hypothesis).test
    assert test is not None and test.check == module.NAME
    assert set(test.expect or ()) <= set(READINGS.get(module.NAME, module.READINGS))


def test_names_that_can_be_explained_are_completed() -> None:
    context = click.Context(explain.command)
    (name,) = explain.command.params[:1]
    found = {item.value for item in name.shell_complete(context, "BS10")}
    assert "BS101" in found and all(word.startswith("BS10") for word in found)


def test_the_next_command_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    path = tmp_path / "my spec's ü.yaml"
    for text, first in ((BASE, ""), (WEAK, "benchspec explain BS701, or ")):
        path.write_text(text)
        line = run(str(path)).stderr.removeprefix("next: " + first)
        assert shlex.split(line) == ["benchspec", "plan", str(path)]


def test_a_folder_is_searched_for_specs(folder: Path) -> None:
    files = json.loads(run(str(folder), "--json").stdout)["files"]
    assert [Path(file["path"]).name for file in files] == ["bad.yml", "good.yaml"]


def test_standard_input() -> None:
    done = run("-", stdin=BAD)
    assert done.exit_code == 1
    assert "<stdin>:" in done.stdout
    assert "benchspec plan" not in run("-", stdin=BASE).stderr, "it cannot be read twice"


def test_json_is_all_that_is_on_stdout(folder: Path) -> None:
    data = json.loads(run(str(folder / "deep" / "bad.yml"), "--json").stdout)
    (finding,) = data["files"][0]["findings"]
    assert data["format_version"] == 1
    assert set(finding) == {
        "code", "name", "severity", "message", "path", "line", "column", "related", "help", "docs",
        "affects", "waived",
    }  # fmt: skip
    assert (finding["code"], finding["affects"]) == ("BS505", ["H1"])


def test_a_file_that_is_no_yaml_is_exit_2_and_the_others_are_still_linted(folder: Path) -> None:
    (folder / "broken.yaml").write_text("benchspec: [1\n")
    done = run(str(folder))
    assert done.exit_code == 2
    assert "broken.yaml" in done.stderr and "Traceback" not in done.stderr
    assert "BS505" in done.stdout


@pytest.mark.parametrize("args", [(), ("missing.yaml",)])
def test_nothing_to_lint_is_a_usage_error(args: tuple[str, ...]) -> None:
    done = run(*args)
    assert isinstance(done.exception, UsageError) or done.exit_code == 2
    assert done.stdout == ""


def test_a_folder_without_specs_is_a_usage_error(tmp_path: Path) -> None:
    assert isinstance(run(str(tmp_path)).exception, UsageError)


def explained(*args: str) -> Result:
    return CliRunner().invoke(explain.command, args)


@pytest.mark.parametrize("name", ["BS201", "bs201", "slots-undeclared"])
def test_a_rule_is_explained_by_code_or_name(name: str) -> None:
    done = explained(name)
    assert done.exit_code == 0
    assert done.stdout.startswith("BS201 slots-undeclared")
    for heading in ("What it checks", "Why it misleads", "Bad", "Good", "Fix", "References"):
        assert f"\n{heading}\n" in done.stdout


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = explained("slots-undeclard").exception
    assert isinstance(error, UsageError)
    assert error.hint == "did you mean slots-undeclared?"


def test_without_a_name_everything_is_listed() -> None:
    data = json.loads(explained("--json").stdout)
    assert {"BS201", "BS505"} <= {rule["code"] for rule in data["rules"]}


def test_a_rule_as_json() -> None:
    data = json.loads(explained("BS201", "--json").stdout)
    assert data["rule"]["name"] == "slots-undeclared"
    assert "`ctx-size`" in data["rule"]["sections"]["Fix"]


@pytest.mark.parametrize("name", ["parallel", "-np", "LLAMA_ARG_N_PARALLEL"])
def test_a_setting_is_explained_by_any_of_its_names(name: str) -> None:
    done = explained(name)
    assert done.exit_code == 0
    assert "llama.cpp: parallel" in done.stdout and "--parallel -np" in done.stdout


def test_an_engine_counts_what_nobody_has_worked_out() -> None:
    data = json.loads(explained("llama.cpp", "--json").stdout)["engine"]
    assert data["unknown"] == sum(not setting["known"] for setting in data["settings"])
    assert f"of {data['unknown']} nobody has worked it out" in explained("llama.cpp").stdout


@pytest.mark.parametrize("name", ["sarif", "github"])
def test_other_formats_go_to_stdout_alone(folder: Path, name: str) -> None:
    done = run(str(folder / "deep" / "bad.yml"), "--format", name)
    assert done.exit_code == 1
    assert "BS505" in done.stdout
    if name == "sarif":
        assert json.loads(done.stdout)["version"] == "2.1.0"


def test_a_bare_command_line() -> None:
    line = "llama-server -m x.gguf -c 32k --parallel 4 -fit off"
    done = run("--command", line)
    assert done.exit_code == 1
    assert "error[BS305] value-silently-truncated" in done.stdout
    assert f"<command line>:1:{line.index('-c') + 1}" in done.stdout


def test_a_bare_command_line_that_is_fine() -> None:
    done = run("--command", "llama-server -m x.gguf -c 8192 -np 4 -fit off")
    assert (done.exit_code, done.stdout) == (0, "no findings in 1 file\n")


@pytest.mark.parametrize("line", ["", "echo hello", "docker run --rm alpine"])
def test_a_command_line_of_no_known_engine_is_a_usage_error(line: str) -> None:
    assert isinstance(run("--command", line).exception, UsageError)


def test_an_engine_without_a_kind_in_a_spec_has_flags_all_the_same() -> None:
    done = run("--command", "text-generation-launcher --model-id x --num-shards 2")
    assert done.exit_code == 1
    assert "error[BS302]" in done.stdout and "--num-shard" in done.stdout


def test_hidden_folders_are_not_searched(folder: Path) -> None:
    (folder / ".venv").mkdir()
    (folder / ".venv" / "spec.yaml").write_text(BAD)
    assert len(json.loads(run(str(folder), "--json").stdout)["files"]) == 2
