"""Writes a fix into the text of a spec.

Only the characters of the change are touched, so comments, order and layout stay as they are.
"""

from __future__ import annotations

import re

from benchspec.lint.fixes import Append, Extend, Fix
from benchspec.spec.problems import Path, Span
from benchspec.spec.source import Document

_LINE_END = re.compile(r"\r\n|\r|\n")
_SHELL = re.compile(r"[|;&<>#`\\]")  # words at the end would go to another command, or to none


def apply(document: Document, fix: Fix) -> str | None:
    """The text of `document` with `fix` written in; None where its layout leaves no safe place."""
    text = _Text(document)
    if isinstance(fix, Append):
        return text.append(fix)
    if isinstance(fix, Extend):
        return text.extend(fix)
    return text.put(fix.path, fix.key, fix.value)


class _Text:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        ends = list(_LINE_END.finditer(self.text))
        self.starts = [0, *(end.end() for end in ends)]
        self.line_end = ends[0][0] if ends else "\n"

    def put(self, path: Path, key: str, value: str) -> str | None:
        here = self.document.spans.get((*path, key))
        if here is not None:
            return self._replace(here, value)
        place = self.document.spans.get(path)
        if place is None:
            if not path:
                return None
            return self.put(path[:-1], str(path[-1]), f"{{{key}: {value}}}")
        if not self._cut(place):
            return self._replace(place, f"{{{key}: {value}}}")
        if self._cut(place).startswith("{"):
            return self._put_in_braces(path, f"{key}: {value}")
        return self._put_on_a_line(path, f"{key}: {value}")

    def extend(self, fix: Extend) -> str | None:
        items = self._children(fix.path)
        if not items:
            place = self.document.spans.get(fix.path)
            one = self._cut(place) if place else ""
            listed = ", ".join(map(str, sorted([int(one), fix.item]))) if one.isdigit() else ""
            return self._replace(place, f"[{listed}]") if place and listed else None
        values = [self._cut(item) for item in items]
        if not all(value.isdigit() for value in values):
            return None
        before = [item for item, value in zip(items, values, strict=True) if int(value) < fix.item]
        anchor = before[-1] if before else items[0]
        line = self.document.lines[anchor.line - 1][: anchor.column - 1]
        if line.strip(" \t") == "-":  # one `- item` a line
            return self._insert_line(anchor.line + bool(before), f"{line}{fix.item}")
        if before:
            return self._insert(self._end(anchor), f", {fix.item}")
        return self._insert(self._start(anchor), f"{fix.item}, ")

    def append(self, fix: Append) -> str | None:
        place = self.document.spans.get(fix.path)
        if place is None or place.line != place.end_line:
            return None
        written = self._cut(place)
        if _SHELL.search(written) or not written:
            return None
        quoted = written[0] in "'\"" and written[-1] == written[0]
        if quoted and written[0] in fix.words:
            return None
        return self._insert(self._end(place) - quoted, f" {fix.words}")

    def _put_in_braces(self, path: Path, entry: str) -> str:
        children = self._children(path)
        if not children:
            return self._insert(self._start(self.document.spans[path]) + 1, entry)
        return self._insert(self._end(children[-1]), f", {entry}")

    def _put_on_a_line(self, path: Path, entry: str) -> str | None:
        """After the last key whose value ends on the key's own line, in its column."""
        keys = [p for p in self.document.key_spans if p[:-1] == path and len(p) > len(path)]
        for child in reversed(keys):
            key, value = self.document.key_spans[child], self.document.spans[child]
            if key.line == value.line == value.end_line:
                return self._insert_line(key.line + 1, " " * (key.column - 1) + entry)
        return None

    def _children(self, path: Path) -> list[Span]:
        depth = len(path) + 1
        found = [s for p, s in self.document.spans.items() if len(p) == depth and p[:-1] == path]
        return sorted(found)

    def _insert_line(self, number: int, line: str) -> str:
        """`line` as the new line `number`, counted from 1."""
        if number <= len(self.starts):
            return self._insert(self.starts[number - 1], line + self.line_end)
        return f"{self.text}{self.line_end}{line}"

    def _replace(self, place: Span, value: str) -> str:
        start, end = self._start(place), self._end(place)
        space = " " if start == end and self.text[start - 1 : start] == ":" else ""
        return self.text[:start] + space + value + self.text[end:]

    def _insert(self, offset: int, words: str) -> str:
        return self.text[:offset] + words + self.text[offset:]

    def _cut(self, place: Span) -> str:
        return self.text[self._start(place) : self._end(place)]

    def _start(self, place: Span) -> int:
        return self.starts[place.line - 1] + place.column - 1

    def _end(self, place: Span) -> int:
        return self.starts[place.end_line - 1] + place.end_column - 1
