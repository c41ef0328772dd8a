"""Text from strangers, made safe to look at: bounded, and nothing in it invisible.

Escaping for HTML is the template engine's work; this is about characters that HTML lets through
and that change how the text around them is read (Unicode TR36, "Trojan Source", CVE-2021-42574).
"""

from __future__ import annotations

import hashlib
import re

LIMIT = 1200
"""Characters of any one field that the page shows; the whole is in the bundle."""

MAX_WORD = 160
"""Characters of a run without a space: longer than any path or digest, and every line breaker is
quadratic in it."""
MAX_ANCHOR = 60
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD + 40},}}")

_REVEAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]"
)
"""Controls, bidirectional controls, invisible and non-characters. Joiners (U+200C, U+200D) stay:
Persian and emoji need them."""


_NOTE = 25
"""Characters that the note of a cut takes: so many more are better shown than counted."""


def visible(value: str, limit: int = LIMIT) -> str:
    """`value` with every control or invisible character written out, cut to `limit` characters.

    C0 controls become their pictures (NUL is U+2400), others their code in brackets: `[U+202E]`.
    Newline and tab stay. Words are cut at MAX_WORD. A cut says how much was left out.
    """
    text = _LONG_WORD.sub(_shorten, value.replace("\r\n", "\n"))
    if len(text) > limit + _NOTE:
        text = f"{text[:limit]}… ({len(text) - limit:,} more characters)"
    return _REVEAL.sub(_reveal, text)


def _shorten(match: re.Match[str]) -> str:
    word = match[0]
    return f"{word[:MAX_WORD]}… ({len(word) - MAX_WORD:,} more characters)"


def one_line(value: str, limit: int = 300) -> str:
    """`visible` text on one line, runs of white space made one space."""
    return " ".join(visible(value, limit).split())


def _reveal(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"[U+{code:04X}]"


def anchor(*parts: object) -> str:
    """A stable id for a place in the page, made of ASCII letters, digits and dashes.

    Names that are long, or that hold other characters, end in a digest of the whole, so that two
    names never share an anchor by being reduced or cut to the same.
    """
    name = " ".join(str(part) for part in parts)
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if name.isascii() and len(plain) <= MAX_ANCHOR:
        return plain or "x"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[:MAX_ANCHOR]}-{digest}".lstrip("-")
