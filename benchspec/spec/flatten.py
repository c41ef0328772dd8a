"""A tree of YAML nodes as plain data, with the place of every key and value by path."""

from __future__ import annotations

import math
import re
from typing import Any

from benchspec.spec.composer import MAX_DEPTH, MAX_NODES, TOO_DEEP, YamlNode, unreadable
from benchspec.spec.problems import FormProblem, Path, Span, dotted, shown
from benchspec.spec.scalars import Float, resolve

MAX_CHARACTERS = 1_000_000  # after aliases; the file itself cannot have more

# Control characters; line separators that editors do not show as line ends (U+0085, U+2028,
# U+2029); direction overrides that make text read otherwise than it runs (CVE-2021-42574).
UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)


class Flattener:
    """Follows aliases under the limits; fills `spans`, `key_spans` and `problems`.

    Raises SpecUnreadable where aliases make the data larger than MAX_NODES or MAX_CHARACTERS.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.spans: dict[Path, Span] = {}
        self.key_spans: dict[Path, Span] = {}
        self.problems: list[FormProblem] = []
        self.nodes = self.characters = 0

    def value(self, node: YamlNode, path: Path) -> Any:
        """The data of `node`, which stands at `path`."""
        self.spans[path] = node.span
        node = node.target or node
        self._count(node, path)
        if node.tag is not None:
            what = f"the tag `{shown(node.tag)}` has no meaning in a spec"
            fix = "delete it; quote what is text"
            self.problems.append(FormProblem("wrong-type", path, what, fix))
        if node.children is None:
            return self._scalar(node, path)
        if node.is_map:
            return self._mapping(node.children, path)
        return [self.value(child, (*path, index)) for index, child in enumerate(node.children)]

    def _count(self, node: YamlNode, path: Path) -> None:
        self.nodes += 1
        self.characters += len(node.text)
        place = self.spans[path][:2]
        if len(path) > MAX_DEPTH:
            raise unreadable(self.name, place, *TOO_DEEP)
        for count, limit, what in (
            (self.nodes, MAX_NODES, "values"),
            (self.characters, MAX_CHARACTERS, "characters"),
        ):
            if count > limit:
                message = f"with its aliases the file has more than {limit:,} {what}"
                raise unreadable(self.name, place, message, "use fewer aliases")

    def _scalar(self, node: YamlNode, path: Path) -> Any:
        value = resolve(node.text) if node.plain and node.tag is None else node.text
        if isinstance(value, Float) and not math.isfinite(value):
            what = f"{shown(value.raw)} is not a finite number"
            fix = "write a number, or quote it if text is meant"
            self.problems.append(FormProblem("wrong-value", path, what, fix))
        elif isinstance(value, str) and (bad := UNWANTED.search(value)):
            what = f"the text holds an invisible character, U+{ord(bad[0]):04X}"
            fix = "delete the escape that makes it"
            self.problems.append(FormProblem("wrong-value", path, what, fix))
        return value

    def _mapping(self, children: list[YamlNode], path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, child in zip(children[::2], children[1::2], strict=True):
            content = key.target or key
            defect = _key_defect(content, path)
            here = (*path, content.text)
            if defect:
                self.problems.append(defect.at(key.span))
            elif content.text in data:
                what = f"`{shown(content.text)}` is written twice in {dotted(path)}"
                fix = "delete or rename one; only the first is read"
                first = (self.key_spans[here], "first written here")
                twice = FormProblem("duplicate-key", here, what, fix, key.span, (first,))
                self.problems.append(twice)
            else:
                self.key_spans[here] = key.span
                data[content.text] = self.value(child, here)
        return data


def _key_defect(key: YamlNode, path: Path) -> FormProblem | None:
    """Why `key` cannot be a key of the map at `path`; None when it can."""
    if key.children is not None:
        what = f"{dotted(path)} has a list or a map as a key"
        fix = "quote text that starts with a bracket or a brace"
        return FormProblem("wrong-type", path, what, fix)
    if key.plain and key.text == "<<":
        what = "`<<` (merge key) is not part of YAML 1.2"
        return FormProblem("unknown-key", path, what, "write the keys out, or use `arms`")
    if key.tag is not None or UNWANTED.search(key.text):
        what = f"the key `{shown(key.text)}` has a tag or an invisible character"
        return FormProblem("wrong-value", path, what, "write the key plainly")
    return None
