"""What a rule is: a code, a name for the defect, a manual page, and a function that states facts."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from benchspec.lint.finding import Severity
from benchspec.lint.fixes import Fix
from benchspec.spec.problems import Path

if TYPE_CHECKING:
    from benchspec.lint.subject import Subject

HEADINGS = ("What it checks", "Why it misleads", "Bad", "Good", "Fix", "References")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class Rule(NamedTuple):
    """`name` says the defect and reads well after "ignore"; `since` is the first version with it.

    `applies` says whether the rule holds before a run, for someone else's numbers, or both.
    """

    code: str
    name: str
    severity: Severity
    since: str = "0.1"
    applies: Literal["run", "audit", "both"] = "both"

    @property
    def docs(self) -> str:
        """The rule's page, relative to the root of the repository."""
        return f"docs/rules/{self.code}.md"


class Fact(NamedTuple):
    """What a rule found, at a YAML path; position, severity and waivers are applied elsewhere.

    `related` are other paths with what they are; `arms` the ids of the arms that it concerns;
    `affects` the ids of the hypotheses. `severity` replaces the rule's own where the same defect
    weighs less or more in this spec. `word` is the part of a long text that is meant, a flag.
    """

    message: str
    path: Path
    help: str
    related: tuple[tuple[Path, str], ...] = ()
    arms: tuple[str, ...] = ()
    affects: tuple[str, ...] = ()
    severity: Severity | None = None
    fix: Fix | None = None
    word: str = ""


class Documented(Protocol):
    """A module of `lint/rules/`: its docstring is the manual page of RULE."""

    RULE: Rule
    __doc__: str | None


class Checked(Documented, Protocol):
    """A rule module that looks at a whole, well-formed spec."""

    def check(self, subject: "Subject", /) -> Iterator[Fact]: ...


class Manual(NamedTuple):
    """A rule's page: its first sentence and the text under each of HEADINGS."""

    title: str
    sections: dict[str, str]

    def example(self, heading: str) -> str:
        """The YAML of the first fenced block under `heading`."""
        match = re.search(r"```yaml\n(.*?)```", self.sections[heading], re.DOTALL)
        return match[1] if match else ""


def manual(module: Documented) -> Manual:
    """The manual page in the docstring of a rule module."""
    title, *rest = _HEADING.split((module.__doc__ or "").strip())
    names, texts = rest[::2], rest[1::2]
    sections = {name: text.strip() for name, text in zip(names, texts, strict=True)}
    return Manual(title.strip(), sections)
