"""Reading a rendered page in tests: its elements, without a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

BLOCKS = {"p", "div", "li", "dt", "dd", "tr", "td", "th", "small", "h2", "h3", "summary"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)


class Page(HTMLParser):
    """All elements in order, with the text directly inside each."""

    def __init__(self, html: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        if self._open:
            self._open[-1].children.append(element)
        if tag in BLOCKS:
            self.handle_data(" ")
        self.elements.append(element)
        if tag not in {"meta", "link", "br", "img", "input"}:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self._open and self._open[-1].tag == tag:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        return [e for e in self.elements if e.tag == tag]

    def with_class(self, name: str) -> list[Element]:
        return [e for e in self.elements if name in e.attributes.get("class", "").split()]
