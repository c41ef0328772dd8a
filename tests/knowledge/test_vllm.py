"""vLLM: the table covers the program's own help, and its command line is read as it reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.knowledge import engines, vllm
from benchspec.knowledge.model import AFFECTS, Reading

FIXTURE = Path(__file__).parent / "fixtures" / "vllm-serve-options.tsv"
KINDS = {
    "StoreTrueAction": {"switch"},
    "BooleanOptionalAction": {"bool"},
    "HelpAction": {"exit"},
    "AppendAction": {"joined"},
    "LoRAParserAction": {"list"},
}


def help_rows() -> list[list[str]]:
    lines = FIXTURE.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[2:]]


def read(*argv: str) -> Reading:
    return vllm.parse_args("vllm", ("serve", "m", *argv))


def values(*argv: str) -> dict[str, object]:
    return {name: use.value for name, use in read(*argv).settings.items() if name != "model"}


def complaints(*argv: str) -> list[str]:
    return [problem.kind for problem in read(*argv).problems]


def test_every_option_of_the_help_is_known_by_every_spelling() -> None:
    rows = help_rows()
    assert len(rows) == 318
    for names, action, choices, default in rows:
        spelled = ["--model"] if names == "model_tag" else names.split()
        found = {vllm.KNOWLEDGE.find(name) for name in spelled}
        assert len(found) == 1, names
        setting = found.pop()
        assert setting is not None, names
        assert set(spelled) <= set(setting.flags + setting.negatives), names
        assert setting.kind in KINDS.get(action, {setting.kind}), names
        assert setting.takes_value == (action not in KINDS or action[:1] in "AL"), names
        if choices and len(choices) < 190:  # a longer list is cut in the help's listing
            assert setting.choices == tuple(choices.split(",")), names
        if default.strip("'").isalnum() and default not in ("None", "True", "False"):
            assert names == "model_tag" or setting.default == default.strip("'"), names


def test_what_is_not_known_is_marked_and_rare() -> None:
    table = vllm.KNOWLEDGE.settings.values()
    flags = [setting for setting in table if setting.flags]
    assert len(flags) == 317  # model_tag and --model are one
    unknown = [setting.name for setting in flags if not setting.known]
    assert len(unknown) == 31
    for setting in table:
        assert set(setting.affects) <= set(AFFECTS), setting.name
        assert bool(setting.affects) == setting.known, setting.name
        assert set(setting.conflicts) <= set(vllm.KNOWLEDGE.settings), setting.name


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["-tp=2", "-pp", "3"], {"tensor-parallel-size": 2, "pipeline-parallel-size": 3}),
        (["--max_num_seqs", "4"], {"max-num-seqs": 4}),
        (["--max-num-seqs=4"], {"max-num-seqs": 4}),
        (["--max-model-len", "25.6k"], {"max-model-len": 25600}),
        (["--max-model-len", "8K"], {"max-model-len": 8192}),
        (["--max-model-len", "auto"], {"max-model-len": -1}),
        (["--no-enable-prefix-caching"], {"enable-prefix-caching": False}),
        (["--no_enable_prefix_caching"], {"enable-prefix-caching": False}),
        (["-ep"], {"enable-expert-parallel": True}),
        (["-O3"], {"optimization-level": 3}),
        (["-O", "3"], {"optimization-level": 3}),
        (["-O=3"], {"optimization-level": 3}),
        (["-q", "awq"], {"quantization": "awq"}),
        (["-n2"], {"nnodes": 2}),
        (["--served-model-name", "a", "b"], {"served-model-name": ["a", "b"]}),
        (["--max-num-seq", "4"], {"max-num-seqs": 4}),
        (["--seed", "-1"], {"seed": -1}),
        (["--hf-token"], {"hf-token": True}),
        (["--device-memory-utilization", "0.5"], {"gpu-memory-utilization": 0.5}),
    ],
)
def test_spellings_and_values(argv: list[str], expected: dict[str, object]) -> None:
    assert values(*argv) == expected
    assert complaints(*argv) == []


def test_dotted_flags_build_nested_json_and_merge() -> None:
    assert values(
        *("--speculative-config.method", "mtp", "--speculative_config.num_speculative_tokens=3"),
        *("-cc.pass_config.fuse_x", "true", "-cc.pass_config.limit", "80g"),
    ) == {
        "speculative-config": {"method": "mtp", "num_speculative_tokens": 3},
        "compilation-config": {"pass_config": {"fuse_x": True, "limit": 80_000_000_000}},
    }


def test_a_plus_appends_to_a_list() -> None:
    argv = ["--compilation-config.list+", "a", "--compilation-config.list+=b,c"]
    assert values(*argv) == {"compilation-config": {"list": ["a", "b", "c"]}}


def test_the_same_dotted_key_twice_keeps_the_last() -> None:
    argv = ["--speculative-config.method", "mtp", "--speculative-config.method", "ngram"]
    assert values(*argv) == {"speculative-config": {"method": "ngram"}}
    assert complaints(*argv) == ["duplicate-flag"]


def test_a_dot_in_a_value_is_no_dotted_flag() -> None:
    assert values("--gpu-memory-utilization=0.9") == {"gpu-memory-utilization": 0.9}


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["--max-num-seqs", "4k"], "value-invalid"),
        (["--max-model-len", "25.6K"], "value-invalid"),
        (["--dtype", "fp16"], "value-invalid"),
        (["--speculative-config", "{oops"], "value-invalid"),
        (["--max-num-seqs"], "value-missing"),
        (["--max-num-seqs", "--enforce-eager"], "value-missing"),
        (["--max-num-s", "4"], "ambiguous-flag"),
        (["--max-num-sequences", "4"], "unknown-flag"),
        (["--frob.a", "4"], "unknown-flag"),
        (["--num-scheduler-steps", "8"], "removed-flag"),
        (["--swap-space=8"], "removed-flag"),
        (["--enforce-eager=True"], "value-unexpected"),
        (["--disable-cascade-attn"], "deprecated-flag"),
        (["--config", "c.yaml"], "config-file"),
        (["second"], "stray-argument"),
        (["--help"], "exits"),
        (["--seed", "1", "--seed", "2"], "duplicate-flag"),
    ],
)
def test_what_does_not_do_what_it_says_is_a_problem(argv: list[str], kind: str) -> None:
    assert complaints(*argv) == [kind]


def test_a_boolean_written_the_old_way_is_understood() -> None:
    assert values("--enable-chunked-prefill=False") == {"enable-chunked-prefill": False}


def test_versions_are_told_where_they_are_known() -> None:
    cascade = vllm.KNOWLEDGE.find("disable-cascade-attn")
    assert cascade is not None
    assert cascade.until == "0.33.0"
    assert "since 0.18.0" in read("--swap-space", "8").problems[0].text


def test_an_old_speculation_flag_is_understood() -> None:
    assert values("--num-speculative-tokens", "5") == {"spec-tokens": 5}


def test_a_program_that_serves_nothing_is_said() -> None:
    reading = vllm.parse_args("vllm", ("bench", "serve", "--model", "m"))
    assert [problem.kind for problem in reading.problems] == ["not-a-server"]


def test_the_model_may_be_an_option_of_the_module() -> None:
    reading = vllm.parse_args("vllm.entrypoints.openai.api_server", ("--model", "m"))
    assert reading.settings["model"].value == "m"
    assert reading.problems == []


def test_a_variable_this_version_lacks_is_ignored() -> None:
    reading = vllm.parse_env({"VLLM_USE_V1": "0", "VLLM_LOGGING_LEVEL": "DEBUG", "HOME": "/x"})
    assert [problem.kind for problem in reading.problems] == ["env-ignored"]
    assert set(reading.settings) == {"VLLM_LOGGING_LEVEL"}


def test_flags_become_an_argument_list() -> None:
    flags = {
        "tp": 2,
        "max_num_seqs": 8,
        "enable-prefix-caching": False,
        "cudagraph-capture-sizes": [1, 2, 4],
        "speculative-config": {"method": "ngram", "num_speculative_tokens": 4},
        "hf-token": True,
    }
    argv = engines.to_argv("vllm", flags)
    assert argv == [
        *("-tp", "2", "--max-num-seqs", "8", "--no-enable-prefix-caching"),
        *("--cudagraph-capture-sizes", "1", "2", "4"),
        *("--speculative-config", '{"method": "ngram", "num_speculative_tokens": 4}', "--hf-token"),
    ]
    reading = engines.resolve("vllm", flags=flags)
    assert reading.problems == []
    assert reading.settings["max-num-seqs"].value == 8
