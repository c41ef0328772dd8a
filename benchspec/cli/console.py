"""What goes where: results to stdout, progress and messages to stderr; when colour is used."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import IO, Any

import click

from benchspec.errors import BenchspecError

_STYLES = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "info": {"fg": "cyan", "bold": True},
    "good": {"fg": "green", "bold": True},
    "dim": {"dim": True},
    "strong": {"bold": True},
}


BUNDLE = "runs/20261129T180000Z-four-slots-one-slot"
"""What a bundle's path looks like, for examples."""


def examples(*lines: str, heading: str = "Examples") -> str:
    """The part of a command's help that people copy from: one command a line, never wrapped."""
    return "\n".join(["\b", f"{heading}:", *(f"  {line}" for line in lines), "", ""])


def colour(stream: IO[str]) -> bool:
    """True when `stream` is a terminal that wants colour (NO_COLOR and TERM=dumb say no)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, style: str, stream: IO[str] | None = None) -> str:
    """`text` in one of the named styles, or as it is where `stream` wants no colour."""
    if not colour(stream or sys.stdout):
        return text
    return click.style(text, **_STYLES[style])  # type: ignore[arg-type]


def out(text: str = "") -> None:
    """One result to stdout."""
    click.echo(text, color=colour(sys.stdout))


def err(text: str = "") -> None:
    """One message to stderr; with nobody there to read it, the work goes on."""
    try:
        click.echo(text, err=True, color=colour(sys.stderr))
    except BrokenPipeError:  # at exit Python flushes once more, and would end with its own code
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def then(*words: object, more: str = "") -> None:
    """The command to type next, to stderr, quoted so that it can be pasted into a shell."""
    err(f"next: {shlex.join(map(str, words))}{more}")


def emit_json(value: Any) -> None:
    """One JSON object to stdout and nothing else there."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False))


def fail(error: BenchspecError) -> int:
    """Print what happened and what to do next to stderr; the exit code of its branch."""
    err(f"{paint('error', 'error', sys.stderr)}: {error.message}")
    if error.hint:
        err(f"  {paint('help', 'info', sys.stderr)}: {error.hint}")
    return error.exit_code
