"""Runs the rules over a document and gives their facts severity, position and waivers. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from benchspec.knowledge import engines
from benchspec.lint import rules, waivers
from benchspec.lint.finding import Finding, Related
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import MAX_PROBLEMS, Subject
from benchspec.lint.waivers import Stated
from benchspec.spec.arms import resolve_arms
from benchspec.spec.loader import Loaded, load
from benchspec.spec.models import Spec
from benchspec.spec.problems import FormProblem, Path, Span
from benchspec.spec.source import Document

_FORM = {module.RULE.name: module.RULE for module in rules.FORM}


class LintResult(NamedTuple):
    """`spec` is None when the form of the document is broken; `findings` in order of place."""

    document: Document
    spec: Spec | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that refuse the spec: severity error and not waived."""
        return tuple(f for f in self.findings if f.severity == "error" and f.waived is None)


def lint(document: Document, *, audit: bool = False) -> LintResult:
    """Every rule that holds before a run (with `audit`: for someone else's numbers)."""
    loaded = _loaded(document)
    findings = [_from_problem(document, problem) for problem in loaded.problems]
    if loaded.spec is not None:
        findings += judged(document, loaded.spec, audit=audit)
    findings.sort(key=lambda f: (f.line, f.column, f.code))
    return LintResult(document, loaded.spec, tuple(findings))


def judged(document: Document, spec: Spec, *, audit: bool = False) -> list[Finding]:
    """What the rules say of a spec that has the right form."""
    subject = Subject(document, spec, resolve_arms(spec, engines.canonical))
    stated = waivers.apply(_facts(subject, audit=audit), spec.waivers)
    return [_from_fact(document, _with_arms(each, subject)) for each in stated]


def _loaded(document: Document) -> Loaded:
    """Read again with the flags of all engines where a key is unknown: it may be one of them."""
    loaded = load(document)
    if any(problem.kind == "unknown-key" for problem in loaded.problems):
        return load(document, engines.flag_names())
    return loaded


def _with_arms(stated: Stated, subject: Subject) -> Stated:
    """A fact that concerns some arms only, and stands in none of them, says which they are."""
    fact = stated.fact
    if len(fact.arms) >= len(subject.arms) or fact.path[:1] == ("arms",):
        return stated
    concerned = [arm for arm in subject.arms if arm.id in fact.arms and arm.id not in fact.message]
    places = tuple((arm.path, f"arm {arm.id}") for arm in concerned)
    return stated._replace(fact=fact._replace(related=fact.related + places))


def _facts(subject: Subject, *, audit: bool) -> Iterator[tuple[Rule, Fact]]:
    if subject.unread:
        yield _FORM["wrong-value"], _unread(subject)
    elsewhere = "run" if audit else "audit"
    for module in rules.CHECKED:
        if module.RULE.applies != elsewhere:
            for fact in module.check(subject):
                yield module.RULE, fact


def _unread(subject: Subject) -> Fact:
    first = subject.unread[0]
    return Fact(
        f"The flags of the arms before {first.id} have more than {MAX_PROBLEMS} problems, so the "
        f"last {len(subject.unread)} arms were not looked at.",
        first.path,
        "mend the others first",
    )


def _from_fact(document: Document, stated: Stated) -> Finding:
    fact = stated.fact
    related = tuple(Related(what, *_span(document, path)[:2]) for path, what in fact.related)
    span = _narrowed(document, _span(document, fact.path), fact.word)
    return _finding(document, stated, span, related)


def _from_problem(document: Document, problem: FormProblem) -> Finding:
    fact = Fact(problem.message, problem.path, problem.help)
    span = problem.span or document.span(problem.path, key=problem.kind == "unknown-key")
    related = tuple(Related(what, place.line, place.column) for place, what in problem.related)
    return _finding(document, Stated(_FORM[problem.kind], fact), span, related)


def _finding(
    document: Document, stated: Stated, span: Span, related: tuple[Related, ...]
) -> Finding:
    rule, fact = stated.rule, stated.fact
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=fact.severity or rule.severity,
        message=fact.message,
        path=document.name,
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
        related=related,
        help=fact.help,
        docs=rule.docs,
        affects=fact.affects,
        waived=stated.waived,
        excerpt=document.lines[span.line - 1] if span.line <= len(document.lines) else "",
        fix=fact.fix,
    )


def _span(document: Document, path: Path) -> Span:
    """The value at `path`, or its key where the value is not all on the key's line."""
    value, key = document.span(path), document.span(path, key=True)
    return value if value.line == value.end_line == key.line else key


def _narrowed(document: Document, span: Span, word: str) -> Span:
    """The first place of `word` inside a `span` of one line, or the whole span."""
    if not word or span.line != span.end_line:
        return span
    text = document.lines[span.line - 1][: span.end_column - 1]
    match = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(text, span.column - 1)
    if match is None:
        return span
    return Span(span.line, match.start() + 1, span.line, match.end() + 1)
