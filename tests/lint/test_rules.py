"""The table of rules and the manual pages: complete, unique, and true when they are tried."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from benchspec.knowledge.model import ProblemKind
from benchspec.lint import rules
from benchspec.lint.rule import HEADINGS, Documented, manual
from benchspec.lint.rules import ALL, CHECKED
from tests.lint.specs import BASE, described, expected, found, linted, over_base

FOLDER = Path(rules.__file__).parent


def code(module: Documented) -> str:
    return module.RULE.code


def test_every_file_is_in_the_table_exactly_once() -> None:
    files = {path.stem for path in FOLDER.glob("bs*.py")}
    table = [str(getattr(module, "__name__", "")).rpartition(".")[2] for module in ALL]
    assert sorted(files) == sorted(table)


def test_codes_and_names_are_unique() -> None:
    codes, names = zip(*((m.RULE.code, m.RULE.name) for m in ALL), strict=True)
    assert len(set(codes)) == len(set(names)) == len(ALL)


@pytest.mark.parametrize("module", ALL, ids=code)
def test_a_file_is_named_for_its_rule(module: Documented) -> None:
    rule = module.RULE
    assert re.fullmatch(r"BS\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    file = str(getattr(module, "__name__", "")).rpartition(".")[2]
    assert file == f"{rule.code}_{rule.name}".lower().replace("-", "_")


@pytest.mark.parametrize("module", ALL, ids=code)
def test_a_manual_has_the_fixed_headings_in_order(module: Documented) -> None:
    page = manual(module)
    assert tuple(page.sections) == HEADINGS
    assert "\n" not in page.title and page.title.endswith(".")
    assert all(page.sections.values())


@pytest.mark.parametrize("module", ALL, ids=code)
def test_the_bad_example_is_found_at_the_marked_line(module: Documented) -> None:
    spec = over_base(manual(module).example("Bad"))
    result = linted(spec)
    assert expected(spec), "the Bad example marks no line"
    for wanted, count in expected(spec).items():
        assert found(result)[wanted] == count, described(result)


@pytest.mark.parametrize("module", ALL, ids=code)
def test_the_good_example_is_clean(module: Documented) -> None:
    result = linted(over_base(manual(module).example("Good")))
    assert not found(result, code(module)), described(result)
    assert not result.errors, described(result)


@pytest.mark.parametrize("module", CHECKED, ids=code)
def test_rules_are_generators_of_facts_at_paths(module: Documented) -> None:
    """Severity, position and waivers are applied outside: a rule never names a line."""
    source = Path(str(getattr(module, "__file__", ""))).read_text("utf-8")
    assert ".line" not in source and ".span" not in source


def test_every_problem_of_an_engines_parser_is_some_rules_business() -> None:
    """`engine_problems.facts` is called with every kind of problem, each in one rule."""
    sources = [path.read_text("utf-8") for path in FOLDER.glob("bs*.py")]
    calls = [text.partition("engine_problems.facts(")[2] for text in sources]
    for kind in get_args(ProblemKind):
        assert sum(f'"{kind}"' in call for call in calls) == 1, kind


def test_a_finding_on_a_shared_line_names_the_arms_that_it_concerns() -> None:
    text = BASE.replace("parallel: 4, ", "") + (
        "arms:\n  - {id: stated, engine: {flags: {parallel: 4}}}\n  - {id: forgotten}\n"
    )
    (finding,) = (f for f in linted(text).findings if f.code == "BS201")
    line = text.split("\n").index("  - {id: forgotten}") + 1
    assert [(r.message, r.line) for r in finding.related][-1] == ("arm forgotten", line)


@pytest.mark.parametrize("key", ["parallel", "np", "ctx-size", "max-num-seqs", "n_gpu_layers"])
def test_a_flag_outside_engine_flags_is_sent_home(key: str) -> None:
    (finding,) = (f for f in linted(BASE + f"{key}: 4\n").findings if f.code == "BS001")
    assert "belongs under engine.flags" in finding.help
