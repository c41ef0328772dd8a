"""Splits a pasted command line the way a shell would, executing nothing.

Tolerant where people paste: line continuations of three shells, lines without one, `<placeholders>`,
JSON printed without its quotes, Windows paths, typographic quotes. A variable is replaced only where
the same text has given it a value. What a shell would have made otherwise becomes a problem.
"""

from __future__ import annotations

import re

from benchspec.knowledge.model import MAX_COMMAND_CHARS, Problem

MAX_WORDS = 2_000
_MAX_VALUE_CHARS = 4_096  # of one variable; a longer one stays as it is written

# One alternative per thing a shell sees; `plain` is any run without a meaning of its own.
_TOKEN = re.compile(
    r"""
      (?P<continued>(?:\\\\?|`|\^)[ \t]*\r?\n)
    | (?P<lone>\\(?=[ \t]|\Z))
    | (?P<newline>\r?\n)
    | (?P<space>[ \t\r\f\v\u00a0\u2000-\u200a\u202f\u3000]+)
    | (?P<placeholder><[A-Za-z][^<>\s|;&]*>)
    | (?P<redirect>\d*(?:>>|>&|<<<|<<|<&|&>>?|>|<)(?:&?\d+(?!\S)|-)?)
    | (?P<group>\([^()\s]*\))
    | (?P<operator>\|\||&&|;;|\|&|[|&;()])
    | (?P<windows>(?:[A-Za-z]:|\.{1,2})\\[^\s"']*)
    | (?P<ansi>\$'(?:[^'\\]|\\.)*')
    | (?P<single>'[^']*'|[‘‚][^‘’‚]*[’‘])
    | (?P<double>"(?:[^"\\]|\\.)*"|[“„«»][^“”„«»]*[”“«»])
    | (?P<unbalanced>["'])
    | (?P<escape>\\.)
    | (?P<arithmetic>\$\(\((?:[^()]|\([^()]*\))*+\)\))
    | (?P<expansion>\$\((?:[^()]|\([^()]*\))*+\)|`[^`]*`|\$\{[^{}]*\}|\$(?:env:)?[A-Za-z_]\w*)
    | (?P<percent>%[A-Za-z_]\w*%|![A-Z_]\w*!)
    | (?P<plain>[^\s"'\\|&;()<>$`^\#{}%!‘‚“„«»]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "e": "\x1b"}
_IN_QUOTES = re.compile(
    r"\$\((?:[^()]|\([^()]*\))*+\)|`[^`]*`|\$\{[^{}]*\}|\$(?:env:)?[A-Za-z_]\w*"
)
_IN_WINDOWS_QUOTES = re.compile(rf"{_IN_QUOTES.pattern}|%[A-Za-z_]\w*%|![A-Z_]\w*!")
_NAME = re.compile(r"\$(?:env:)?(\w+)|\$\{(?:env:)?(\w+)(?:(?::?[-=])([^{}]*))?\}|[%!](\w+)[%!]")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_POWERSHELL = re.compile(r"\$(?:env:)?(\w+) ?= ?(.*)", re.DOTALL | re.IGNORECASE)
_STATING = ("export", "set", "declare", "local", "readonly", "typeset", "setx")
_POSIX = re.compile(r"\\[ \t]*\r?\n")
_WINDOWS = re.compile(r"\.exe\b|(?<![A-Za-z])[A-Za-z]:\\|[`^][ \t]*\r?\n|\$env:", re.IGNORECASE)
# A line that opens with a flag goes on with the command above it, comments between them or not.
_GOES_ON = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n){0,3}[ \t]*[-–—]{1,2}[A-Za-z]")
_BLANK = re.compile(r"[ \t]*")
_QUOTED_VALUE = re.compile(r"""[ \t]*["'{]""")  # of the flag above, where a mail broke the line
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]")
_LOOKALIKES = re.compile("[“”„«»‘’‚\u00a0\u2000-\u200a\u202f\u3000]")


def split(text: str, *, one_command: bool = False) -> tuple[list[list[str]], list[Problem]]:
    """The simple commands of a command line, each a list of words, and what is doubtful in it.

    Pipes, lists and newlines separate commands (with `one_command` a newline only separates words);
    redirections and comments are dropped; quotes are removed. `$X` and `$(...)` stay as written,
    unless the text itself gave X a value. Never raises; a text above MAX_COMMAND_CHARS or MAX_WORDS
    gives no command and one problem.
    """
    problems: list[Problem] = []
    if len(text) > MAX_COMMAND_CHARS:
        said = (
            f"the command line has {len(text)} characters, more than {MAX_COMMAND_CHARS}: not read"
        )
        return [], [Problem("too-long", said)]
    splitter = _Splitter(_cleaned(text, problems), problems, one_command)
    splitter.run()
    commands = [words for words in splitter.commands if words]
    if sum(map(len, commands)) > MAX_WORDS:
        said = f"the command line has more than {MAX_WORDS} words: not read"
        return [], [Problem("too-long", said)]
    return commands, problems


def filled(text: str, problems: list[Problem]) -> str:
    """One word of a Compose file: `${X:-8080}` is 8080, `${X}` stays and is a problem."""
    splitter = _Splitter("", problems, one_command=True)
    return _IN_QUOTES.sub(lambda match: splitter.value(match.group()), text)


def _cleaned(text: str, problems: list[Problem]) -> str:
    """The text without characters that no shell passes on or no reader sees."""
    visible = _INVISIBLE.sub("", text)
    cleaned = "".join(c for c in visible if c >= " " or c in "\t\n\r\f\v")
    if cleaned != visible:
        said = (
            "the command line holds control characters, which no shell passes on; they are dropped"
        )
        problems.append(Problem("control-character", said))
    return cleaned


class _Splitter:
    """One pass over the text; `word` is None between words, so that '' can be a word."""

    def __init__(self, text: str, problems: list[Problem], one_command: bool) -> None:
        self.text = text
        self.problems = problems
        self.one_command = one_command
        self.windows = bool(_WINDOWS.search(text)) and not _POSIX.search(text)
        self.commands: list[list[str]] = [[]]
        self.word: str | None = None
        self.drop_next = False
        self.may_hold_json = True
        self.position = 0
        self.variables: dict[str, str] = {}
        self.room = MAX_COMMAND_CHARS
        self.lookalikes = False
        self.joined = -1  # where the line goes on after its last `\`
        self.remarked = False

    def run(self) -> None:
        while self.position < len(self.text):
            match = _TOKEN.match(self.text, self.position)
            assert match is not None  # `plain` takes any character
            self.position = match.end()
            getattr(self, f"_{match.lastgroup}")(match.group())
        self._end_word()
        if self.lookalikes:
            said = "typographic quotes or spaces, as a web page prints them, are read as plain ones"
            self.problems.append(Problem("typographic", said))
        if self.remarked:
            said = "a shell ends the command at the remark within its lines; it is read on here"
            self.problems.append(Problem("typographic", said))

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _end_word(self) -> None:
        if self.word is not None and not self.drop_next:
            self.commands[-1].append(self.word)
        self.drop_next = self.drop_next and self.word is None
        self.word = None

    def _continued(self, _: str) -> None:
        """The shell joins the lines, and so do we."""
        self.joined = self.position

    def _lone(self, _: str) -> None:
        """Before a space: escaped inside a word, what is left of a continuation between words."""
        if self.windows:
            self._add("\\")
        elif self.word is None:
            self.joined = self.position
        elif self.word is not None and self.position < len(self.text):
            self._add(self.text[self.position])
            self.position += 1

    def _newline(self, _: str) -> None:
        stands = self.word is not None or bool(self.commands[-1])
        if self.one_command or (stands and self._goes_on()):
            self._end_word()
        else:
            self._operator("\n")

    def _goes_on(self) -> bool:
        last = self.word if self.word is not None else self.commands[-1][-1]
        pattern = _QUOTED_VALUE if last.startswith("--") and "=" not in last else None
        found = _GOES_ON.match(self.text, self.position)
        return bool(found or (pattern and pattern.match(self.text, self.position)))

    def _space(self, text: str) -> None:
        self.lookalikes |= _LOOKALIKES.search(text) is not None
        self._end_word()

    def _placeholder(self, text: str) -> None:
        said = f"{text[:80]} is still to be filled in"
        self.problems.append(Problem("not-expanded", said, text))
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
        self._remember(self.commands[-1])
        self.commands.append([])

    def _windows(self, text: str) -> None:
        self._add(text)

    def _ansi(self, text: str) -> None:
        self._add(re.sub(r"\\(.)", lambda m: _ANSI.get(m[1], m[1]), text[2:-1], flags=re.DOTALL))

    def _single(self, text: str) -> None:
        self.lookalikes |= text[0] != "'"
        self._add(text[1:-1])

    def _double(self, text: str) -> None:
        self.lookalikes |= text[0] != '"'
        marks = _IN_WINDOWS_QUOTES if self.windows else _IN_QUOTES
        inner = marks.sub(lambda match: self.value(match.group()), text[1:-1])
        self._add(re.sub(r'\\(["\\$`]|\r?\n)', lambda m: m[1].strip("\r\n"), inner))

    def _unbalanced(self, text: str) -> None:
        said = f"a quote ({text}) is opened and never closed; the rest is read as one word"
        self.problems.append(Problem("unbalanced-quote", said))
        self._add(self.text[self.position :])
        self.position = len(self.text)

    def _escape(self, text: str) -> None:
        self._add(text if self.windows else text[1:])

    def _arithmetic(self, text: str) -> None:
        self._not_expanded(text)
        self._add(text)

    def _expansion(self, text: str) -> None:
        if not text.startswith("`#"):  # a comment among continued lines
            self._add(self.value(text))

    def _percent(self, text: str) -> None:
        self._add(self.value(text) if self.windows else text)

    def value(self, text: str) -> str:
        """What a variable stands for, if the text says so, or its own default; else as written."""
        match = _NAME.fullmatch(text)
        name = next((part for part in (match[1], match[2], match[4]) if part), "") if match else ""
        value = self.variables.get(name, match[3] if match else None)
        if value is None or len(value) > min(_MAX_VALUE_CHARS, self.room):
            self._not_expanded(text)
            return text
        self.room -= len(value)
        return value

    def _remember(self, words: list[str]) -> None:
        """The variables that a finished command sets, if that is all it does."""
        power = _POWERSHELL.fullmatch(" ".join(words[:3])) if words else None
        if power and len(words) in (1, 3):
            self.variables[power[1]] = power[2]
            return
        if words[:1] == ["set"] and len(words) > 2 and words[2][0] == "=":
            said = f"`set {words[1][:40]} = …` does not set {words[1][:40]}: no space may be there"
            self.problems.append(Problem("env-ignored", said, words[1][:60]))
            return
        stated = words[1:] if words[:1] and words[0] in _STATING else words
        pairs = [_ASSIGNMENT.fullmatch(word) for word in stated]
        if all(pairs):
            self.variables.update((pair[1], pair[2]) for pair in pairs if pair)

    def _not_expanded(self, text: str) -> None:
        said = f"{text[:80]} is kept as written: nothing in a command line is expanded or executed"
        self.problems.append(Problem("not-expanded", said, text))

    def _plain(self, text: str) -> None:
        if text == "#" and self.word is None:
            start = self.position - 1
            end = self.text.find("\n", start)
            self.position = end if end >= 0 else len(self.text)
            if not self.one_command and self.joined >= 0 and self.commands[-1]:
                between = _BLANK.fullmatch(self.text, self.joined, start)
                self.remarked |= bool(between and _GOES_ON.match(self.text, self.position + 1))
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
