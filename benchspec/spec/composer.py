"""YAML text to a tree of nodes with places, from the parser's events and without recursion.

Aliases stay references here, so that a file which explodes when they are followed stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from benchspec.errors import SpecUnreadable
from benchspec.spec.problems import Span, shown

_Parser: Any
try:
    from yaml.cyaml import CParser as _Parser  # type: ignore[attr-defined]
except ImportError:  # a PyYAML built without libyaml: slower, and stricter about `?`
    from benchspec.spec.pure_parser import PureParser as _Parser

MAX_DEPTH = 64
MAX_NODES = 50_000

TOO_MANY = (
    f"the file has more than {MAX_NODES:,} values",
    "keep measurements in files of their own",
)
TOO_DEEP = (f"values are nested more than {MAX_DEPTH} deep", "a spec needs about six levels")


@dataclass(slots=True)
class YamlNode:
    """A scalar (`text`), a collection (`children`; of a map key, value, key, ...) or an alias."""

    span: Span
    tag: str | None = None
    text: str = ""
    plain: bool = False
    children: list[YamlNode] | None = None
    is_map: bool = False
    target: YamlNode | None = None


def unreadable(name: str, place: tuple[int, int], message: str, hint: str) -> SpecUnreadable:
    """SpecUnreadable at `place` (1-based line and column) of the file `name`."""
    return SpecUnreadable(f"{name}:{place[0]}:{place[1]}: {message}", hint=hint)


def compose(text: str, name: str) -> YamlNode | None:
    """The root node of the only document in `text`; None for an empty file.

    Raises yaml.YAMLError for broken syntax, SpecUnreadable for a second document, for an alias
    without an anchor or inside its own value, and beyond MAX_DEPTH or MAX_NODES.
    """
    return _Composer(name).compose(text)


class _Composer:
    def __init__(self, name: str) -> None:
        self.name = name
        self.anchors: dict[str, YamlNode | None] = {}  # None while the value is still open
        self.open: list[tuple[YamlNode, str | None]] = []

    def compose(self, text: str) -> YamlNode | None:
        root: YamlNode | None = None
        count = documents = 0
        for event in _events(text):
            documents += isinstance(event, DocumentStartEvent)
            if documents > 1:
                raise self._refuse(event, "a second document starts here", "one spec per file")
            node = self._take(event)
            count += node is not None
            if count > MAX_NODES:
                raise self._refuse(event, *TOO_MANY)
            root = root or node
        return root

    def _take(self, event: Any) -> YamlNode | None:
        """The node that `event` begins, put in its place; None for an event that begins none."""
        if isinstance(event, CollectionEndEvent):
            self._close(event)
        if not isinstance(event, NodeEvent):
            return None
        node = self._alias(event) if isinstance(event, AliasEvent) else self._content(event)
        if self.open:
            siblings = self.open[-1][0].children
            assert siblings is not None
            siblings.append(node)
        if node.children is not None:
            self.open.append((node, event.anchor))
            if len(self.open) > MAX_DEPTH:
                raise self._refuse(event, *TOO_DEEP)
        return node

    def _content(self, event: Any) -> YamlNode:
        node = YamlNode(_span_of(event), event.tag)
        if isinstance(event, ScalarEvent):
            node.text, node.plain = event.value, not event.style
        else:
            node.children, node.is_map = [], isinstance(event, MappingStartEvent)
        if event.anchor:
            self.anchors[event.anchor] = node if node.children is None else None
        return node

    def _alias(self, event: Any) -> YamlNode:
        name, label = event.anchor, shown(event.anchor)
        if name not in self.anchors:
            message = f"*{label} refers to an anchor that is not defined above"
            raise self._refuse(event, message, f"define it with &{label}, or write the value")
        target = self.anchors[name]
        if target is None:
            message = f"*{label} stands inside the value that it refers to"
            raise self._refuse(event, message, "write the value out")
        return YamlNode(_span_of(event), target=target)

    def _close(self, event: Any) -> None:
        node, anchor = self.open.pop()
        start, end = event.start_mark, event.end_mark
        if (start.line, start.column) != (end.line, end.column):  # a closing bracket
            node.span = Span(*node.span[:2], end.line + 1, end.column + 1)
        elif node.children:  # the parser ends a block at the next token
            node.span = Span(*node.span[:2], *node.children[-1].span[2:])
        if anchor:
            self.anchors[anchor] = node

    def _refuse(self, event: Any, message: str, hint: str) -> SpecUnreadable:
        mark = event.start_mark
        return unreadable(self.name, (mark.line + 1, mark.column + 1), message, hint)


def _events(text: str) -> Iterator[Any]:
    parser = _Parser(text)
    try:
        while parser.check_event():
            yield parser.get_event()
    finally:
        parser.dispose()


def _span_of(event: Any) -> Span:
    start, end = event.start_mark, event.end_mark
    last, column = end.line + 1, end.column + 1
    if getattr(event, "style", None) == "|":  # the parser ends a block at the next token
        after = start.line + 2 + len(event.value.rstrip("\n").splitlines())
        last, column = min((last, column), (after, 1))
    return Span(start.line + 1, start.column + 1, last, column)
