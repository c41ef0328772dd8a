"""Bytes to data, with the place of every key and value. Nothing here knows the spec language.

One loader on libyaml's events. Limits keep a hostile file cheap: 1 MB of UTF-8, nesting of 64,
50,000 nodes after aliases. What is YAML but not wanted in a spec (tags, merge keys, duplicate
keys, maps as keys) is kept as `Document.problems`; what cannot be read raises SpecUnreadable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from benchspec.errors import SpecUnreadable
from benchspec.spec.composer import compose, unreadable
from benchspec.spec.flatten import UNWANTED, Flattener
from benchspec.spec.problems import FormProblem, Path, Span, shown
from benchspec.spec.syntax import explain

MAX_BYTES = 1_000_000
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Document:
    """A parsed file: `data` of plain dicts and lists, numbers with `.raw`, keys always text.

    `raw` are the bytes as given; `lines` the text without line ends, for excerpts.
    """

    name: str
    raw: bytes
    text: str
    data: Any
    spans: dict[Path, Span]
    key_spans: dict[Path, Span]
    lines: list[str]
    problems: list[FormProblem]

    def span(self, path: Path, key: bool = False) -> Span:
        """Where the value (or, with `key`, the key) at `path` stands.

        A path that is not in the document gives its nearest ancestor that is; an ancestor is
        shown by its key, where it has one, because its value may fill a page.
        """
        if not key and path in self.spans:
            return self.spans[path]
        while path:
            found = self.key_spans.get(path) or self.spans.get(path)
            if found:
                return found
            path = path[:-1]
        return Span(1, 1, 1, 1)


def parse(data: bytes, name: str) -> Document:
    """Parse one YAML document; `name` is used in messages.

    Raises SpecUnreadable (with file:line:column) when the bytes are not UTF-8, not YAML, more
    than one document, or beyond the limits.
    """
    text = _decode(data, name)
    try:
        root = compose(text, name)
    except yaml.MarkedYAMLError as error:
        line, column, message, hint = explain(error, text)
        raise unreadable(name, (line, column), message, hint) from None
    except yaml.YAMLError as error:
        raise SpecUnreadable(f"{name}: this is not YAML: {shown(error, 200)}") from None
    flat = Flattener(name)
    content = flat.value(root, ()) if root else None
    lines = _LINE_END.split(text)
    return Document(name, data, text, content, flat.spans, flat.key_spans, lines, flat.problems)


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise SpecUnreadable(
            f"{name}: the file is {len(data):,} bytes long; a spec has at most {MAX_BYTES:,}",
            hint="keep prompts and measurements in files of their own and name them in the spec",
        )
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] == b"\0\0\xfe\xff":
        encoding = "UTF-32" if b"\0\0" in data[:4] else "UTF-16"
        raise unreadable(name, (1, 1), f"the file is {encoding}", "save it as UTF-8")
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        place = _place(error.object[: error.start].decode("utf-8"))
        raise unreadable(name, place, message, "save the file as UTF-8") from None
    bad = UNWANTED.search(text)
    if bad:
        message = f"an invisible character, U+{ord(bad[0]):04X}, is not allowed in a spec"
        raise unreadable(name, _place(text[: bad.start()]), message, "delete it")
    return text


def _place(before: str) -> tuple[int, int]:
    """Line and column, 1-based, of the character that follows the text `before`."""
    lines = _LINE_END.split(before)
    return len(lines), len(lines[-1]) + 1
