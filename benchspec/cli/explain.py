"""`benchspec explain`: the manual page of a rule, a check, an engine or one of its settings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import click

from benchspec.cli.console import emit_json, examples, out, paint
from benchspec.errors import UsageError
from benchspec.lint.rule import HEADINGS, Documented, manual
from benchspec.lint.rules import ALL


def _complete(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    return [name for name in _names() if name.startswith(typed)]


@click.command(
    context_settings={"ignore_unknown_options": True},  # `explain -np` asks about a flag
    epilog=examples(
        "benchspec explain BS201",
        "benchspec explain queueing",
        "benchspec explain llama.cpp",
        "benchspec explain parallel",
    ),
)
@click.argument("name", required=False, metavar="CODE|NAME", shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(name: str | None, as_json: bool) -> None:
    """Explain a rule (by code or name), a check, an engine kind, or a setting of an engine.

    Without a name, list the rules and the checks.
    """
    if name is None:
        _list(as_json)
        return
    rule = next((m for m in ALL if name.lower() in (m.RULE.code.lower(), m.RULE.name)), None)
    if rule is not None:
        _explain_rule(rule, as_json)
        return
    check = next((module for module in _checks() if name == module.NAME), None)
    if check is not None:
        _explain_check(check, as_json)
        return
    from benchspec.cli.explain_engine import explain_engine, explain_setting

    if not explain_engine(name, as_json) and not explain_setting(name, as_json):
        raise _unknown(name)


def _checks() -> list[Any]:
    return list(importlib.import_module("benchspec.judge.checks").CHECKS)


def _list(as_json: bool) -> None:
    rules = [_rule_data(module) for module in ALL]
    checks = [{"name": module.NAME, "title": _title(module)} for module in _checks()]
    if as_json:
        emit_json({"format_version": 1, "rules": rules, "checks": checks})
        return
    out(paint("Rules of the linter", "strong"))
    for rule in rules:
        out(f"  {rule['code']}  {rule['severity']:<8} {rule['name']:<32} {rule['title']}")
    out()
    out(paint("Checks of the judge", "strong"))
    for check in checks:
        out(f"  {check['name']:<24} {check['title']}")


def _rule_data(module: Documented) -> dict[str, str]:
    rule = module.RULE
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "since": rule.since,
        "applies": rule.applies,
        "title": manual(module).title,
        "docs": rule.docs,
    }


def _explain_rule(module: Documented, as_json: bool) -> None:
    data = _rule_data(module)
    sections = manual(module).sections
    if as_json:
        emit_json({"format_version": 1, "rule": {**data, "sections": sections}})
        return
    holds = {"run": "before a run", "audit": "in an audit", "both": "before a run and in an audit"}
    head = f"{data['code']} {data['name']}"
    out(f"{paint(head, 'strong')} ({data['severity']}, {holds[data['applies']]})\n")
    out(data["title"])
    for heading in HEADINGS:
        out(f"\n{paint(heading, 'strong')}\n")
        out(sections[heading])


def _explain_check(module: ModuleType, as_json: bool) -> None:
    text = inspect.cleandoc(module.__doc__ or "")
    if as_json:
        check = {"name": module.NAME, "text": text, "readings": list(module.READINGS)}
        emit_json({"format_version": 1, "check": check})
        return
    out(f"{paint(module.NAME, 'strong')} (a check of the judge)\n")
    out(text)
    if module.NAME != "gate":
        out(f"\n{paint('In a spec', 'strong')}\n\n{in_a_spec(module)}")


def in_a_spec(module: ModuleType) -> str:
    """How a hypothesis asks for the check: by a reading, or by its value."""
    return (
        "hypotheses:\n"
        "  - id: H1\n"
        "    claim: ...\n"
        f"    test: {{check: {module.NAME}, expect: {module.READINGS[0]}}}  # or another reading\n"
        f'    # or by its value: {{check: {module.NAME}, relation: "<=", value: 1.0}}\n'
        "    # `at` picks the place: {check: ..., at: {arm: A, concurrency: 8}, expect: ...}"
    )


def _title(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "").partition("\n")[0]


def _names() -> Iterator[str]:
    for module in ALL:
        yield from (module.RULE.code, module.RULE.name)
    yield from (module.NAME for module in _checks())


def _unknown(name: str) -> UsageError:
    from difflib import get_close_matches

    near = get_close_matches(name.upper(), [n for n in _names() if n.startswith("BS")], 1)
    near = get_close_matches(name.lower()[:64], list(_names()), 1) or near
    hint = f"did you mean {near[0]}?" if near else "`benchspec explain` lists rules and checks"
    return UsageError(f"there is no rule, check, engine or setting {name[:64]!r}", hint=hint)
