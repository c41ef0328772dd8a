"""Splits a pasted command line the way a shell would, executing and expanding nothing.

Tolerant where people paste: line continuations of three shells, `<placeholders>`, JSON printed
without its quotes, Windows paths. What a shell would have made otherwise becomes a problem.
"""

from __future__ import annotations

import re

from benchspec.knowledge.model import MAX_COMMAND_CHARS, Problem

MAX_WORDS = 2_000

# One alternative per thing a shell sees; `plain` is any run without a meaning of its own.
_TOKEN = re.compile(
    r"""
      (?P<continued>(?:\\\\?|`|\^)[ \t]*\r?\n)
    | (?P<lone>\\(?=[ \t]|\Z))
    | (?P<newline>\r?\n)
    | (?P<space>[ \t\r\f\v]+)
    | (?P<placeholder><[A-Za-z][^<>\s|;&]*>)
    | (?P<redirect>\d*(?:>>|>&|<<<|<<|<&|&>|>|<)(?:&?\d+(?!\S)|-)?)
    | (?P<group>\([^()\s]*\))
    | (?P<operator>\|\||&&|;;|\|&|[|&;()])
    | (?P<windows>(?:[A-Za-z]:|\.{1,2})\\[^\s"']*)
    | (?P<ansi>\$'(?:[^'\\]|\\.)*')
    | (?P<single>'[^']*')
    | (?P<double>"(?:[^"\\]|\\.)*")
    | (?P<unbalanced>["'])
    | (?P<escape>\\.)
    | (?P<expansion>\$\([^()]*\)|`[^`]*`|\$\{[^{}]*\}|\$[A-Za-z_]\w*)
    | (?P<plain>[^\s"'\\|&;()<>$`^#{}]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "e": "\x1b"}


def split(text: str) -> tuple[list[list[str]], list[Problem]]:
    """The simple commands of a command line, each a list of words, and what is doubtful in it.

    Pipes, lists and newlines separate commands; redirections and comments are dropped; quotes are
    removed. Nothing is expanded: `$X` and `$(...)` stay as written. Never raises; a text above
    MAX_COMMAND_CHARS or MAX_WORDS gives no command and one problem.
    """
    problems: list[Problem] = []
    if len(text) > MAX_COMMAND_CHARS:
        said = (
            f"the command line has {len(text)} characters, more than {MAX_COMMAND_CHARS}: not read"
        )
        return [], [Problem("too-long", said)]
    cleaned = "".join(c for c in text if c >= " " or c in "\t\n\r\f\v")
    if cleaned != text:
        said = (
            "the command line holds control characters, which no shell passes on; they are dropped"
        )
        problems.append(Problem("control-character", said))
    splitter = _Splitter(cleaned, problems)
    splitter.run()
    commands = [words for words in splitter.commands if words]
    if sum(map(len, commands)) > MAX_WORDS:
        said = f"the command line has more than {MAX_WORDS} words: not read"
        return [], [Problem("too-long", said)]
    return commands, problems


class _Splitter:
    """One pass over the text; `word` is None between words, so that '' can be a word."""

    def __init__(self, text: str, problems: list[Problem]) -> None:
        self.text = text
        self.problems = problems
        self.commands: list[list[str]] = [[]]
        self.word: str | None = None
        self.drop_next = False
        self.may_hold_json = True
        self.position = 0

    def run(self) -> None:
        while self.position < len(self.text):
            match = _TOKEN.match(self.text, self.position)
            assert match is not None  # `plain` takes any character
            self.position = match.end()
            getattr(self, f"_{match.lastgroup}")(match.group())
        self._end_word()

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _end_word(self) -> None:
        if self.word is not None and not self.drop_next:
            self.commands[-1].append(self.word)
        self.drop_next = self.drop_next and self.word is None
        self.word = None

    def _continued(self, _: str) -> None:
        """The shell joins the lines, and so do we."""

    def _lone(self, _: str) -> None:
        """Before a space: escaped inside a word, what is left of a continuation between words."""
        if self.word is not None and self.position < len(self.text):
            self._add(self.text[self.position])
            self.position += 1

    def _newline(self, _: str) -> None:
        self._operator("\n")

    def _space(self, _: str) -> None:
        self._end_word()

    def _placeholder(self, text: str) -> None:
        self._add(text)

    def _redirect(self, text: str) -> None:
        self._end_word()
        self.drop_next = not text[-1:].isdigit() and text[-1:] != "-"

    def _group(self, text: str) -> None:
        """Inside a word it can only be meant literally: a regular expression without quotes."""
        if self.word is None:
            self.position -= len(text) - 1
            self._operator("(")
        else:
            self._add(text)

    def _operator(self, _: str) -> None:
        self._end_word()
        self.drop_next = False
        self.commands.append([])

    def _windows(self, text: str) -> None:
        self._add(text)

    def _ansi(self, text: str) -> None:
        self._add(re.sub(r"\\(.)", lambda m: _ANSI.get(m[1], m[1]), text[2:-1], flags=re.DOTALL))

    def _single(self, text: str) -> None:
        self._add(text[1:-1])

    def _double(self, text: str) -> None:
        inner = re.sub(r'\\(["\\$`]|\r?\n)', lambda m: m[1].strip("\r\n"), text[1:-1])
        if re.search(r"\$[({A-Za-z_]|`", inner):
            self._not_expanded(text)
        self._add(inner)

    def _unbalanced(self, text: str) -> None:
        said = f"a quote ({text}) is opened and never closed; the rest is read as one word"
        self.problems.append(Problem("unbalanced-quote", said))
        self._add(self.text[self.position :])
        self.position = len(self.text)

    def _escape(self, text: str) -> None:
        self._add(text[1:])

    def _expansion(self, text: str) -> None:
        if text.startswith("`#"):  # a comment among continued lines
            return
        if text.lower() != "$env":  # PowerShell's `$env:X = "1"` is an assignment
            self._not_expanded(text)
        self._add(text)

    def _not_expanded(self, text: str) -> None:
        said = f"{text[:80]} is kept as written: nothing in a command line is expanded or executed"
        self.problems.append(Problem("not-expanded", said))

    def _plain(self, text: str) -> None:
        if text == "#" and self.word is None:
            end = self.text.find("\n", self.position)
            self.position = end if end >= 0 else len(self.text)
        elif text == "{" and (self.word is None or self.word.endswith("=")):
            self._json()
        else:
            self._add(text)

    def _json(self) -> None:
        """JSON printed without its quotes (a log of an argument list): taken up to its brace."""
        start = self.position - 1
        end = _closing_brace(self.text, start) if self.may_hold_json else None
        if end is None:
            self.may_hold_json = self.may_hold_json and not _JSON_OPENING.match(self.text, start)
            self._add("{")
            return
        self._add(self.text[start:end])
        self.position = end
        said = (
            "JSON without quotes around it: a shell would split it at its spaces; it is read whole"
        )
        self.problems.append(Problem("unquoted-json", said))


_JSON_OPENING = re.compile(r'\{\s*["}]')
_JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]|[^"{}]+', re.DOTALL)


def _closing_brace(text: str, start: int) -> int | None:
    """The end of the JSON object that opens at `start`, or None where none does."""
    if not _JSON_OPENING.match(text, start):
        return None
    depth = 0
    for part in _JSON_PART.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(part.group(), 0)
        if depth == 0:
            return part.end()
    return None
