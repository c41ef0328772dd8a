"""YAML as plain maps, lists and texts, read from parser events: bounded in depth and size.

Only for finding command lines in the files that hold them (Compose, Kubernetes, llama-swap): no
tags, no numbers, the last of duplicate keys counts. Specs are read by benchspec.spec.
"""

from __future__ import annotations

from typing import Any

Node = str | list[Any] | dict[str, Any]

_MAX_DEPTH = 24
_MAX_NODES = 5_000


class _NotAnOutline(Exception):
    pass


def parse(text: str) -> list[Node]:
    """The documents of a YAML text; none for a text that is no YAML, or too deep or too large."""
    import yaml  # only where a text looks like YAML

    builder = _Builder()
    try:
        for event in yaml.parse(text, yaml.CSafeLoader):
            builder.take(event)
    except (yaml.YAMLError, _NotAnOutline):
        return []
    return builder.documents


class _Builder:
    """Puts events together; an alias is the very object that its anchor names."""

    def __init__(self) -> None:
        self.documents: list[Node] = []
        self.open: list[tuple[Node, str | None]] = []  # a collection, and the key it waits under
        self.keys: list[str | None] = []
        self.anchors: dict[str, Node] = {}
        self.nodes = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin({} if kind == "MappingStartEvent" else [], event.anchor)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self.open.pop()
            self.keys.pop()
        elif kind == "ScalarEvent":
            self._put(event.value, event.anchor)
        elif kind == "AliasEvent":
            self._put(self.anchors.get(event.anchor, ""), None)

    def _begin(self, node: Node, anchor: str | None) -> None:
        if len(self.open) >= _MAX_DEPTH:
            raise _NotAnOutline
        if self.open and isinstance(self.open[-1][0], dict) and self.keys[-1] is None:
            raise _NotAnOutline  # a collection as a key
        self._put(node, anchor)
        self.open.append((node, None))
        self.keys.append(None)

    def _put(self, node: Node, anchor: str | None) -> None:
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise _NotAnOutline
        if anchor:
            self.anchors[anchor] = node
        if not self.open:
            self.documents.append(node)
            return
        into = self.open[-1][0]
        if isinstance(into, list):
            into.append(node)
        elif isinstance(into, dict):
            self._pair(into, node)

    def _pair(self, into: dict[str, Any], node: Node) -> None:
        key = self.keys[-1]
        if key is None:
            self.keys[-1] = node if isinstance(node, str) else ""
            return
        if key == "<<" and isinstance(node, dict):
            for inherited, value in node.items():
                into.setdefault(inherited, value)
        else:
            into[key] = node
        self.keys[-1] = None
