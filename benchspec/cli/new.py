"""`benchspec new`: a commented spec to start from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchspec.cli.console import emit_json, examples, out, then
from benchspec.errors import StorageFailure, UsageError

_KINDS = ("llama.cpp", "vllm", "sglang", "ollama", "mlx-lm", "openai")


_GUESS = "# FILL IN: "


@click.command(
    epilog=examples(
        "benchspec new",
        "benchspec new study.yaml --engine vllm",
        "benchspec new --from-command 'llama-server -m x.gguf -c 8192 -np 4'",
    )
)
@click.argument("path", default="spec.yaml")
@click.option("--engine", "kind", type=click.Choice(_KINDS), help="Engine kind.")
@click.option("--from-command", "line", help="A server's command line, from your notes.")
@click.option("--force", is_flag=True, help="Write over an existing file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(path: str, kind: str | None, line: str | None, force: bool, as_json: bool) -> None:
    """Write a commented spec to PATH (spec.yaml; `-` is stdout) and say what is left to fill in."""
    from benchspec.cli import starter
    from benchspec.report.html import template_dir

    problems: list[str] = []
    if line:
        start, parsed = starter.from_command(line, kind)
        problems = [problem.text for problem in parsed.problems]
    else:
        start = starter.for_engine(kind or "llama.cpp")
    template = (template_dir() / "spec.yaml.j2").read_text("utf-8")
    text = starter.render(start, "SPEC" if path == "-" else path, template)
    if path == "-":
        sys.stdout.write(text)
        return
    _write(Path(path), text, force)
    open_ends = _open_ends(text, path)
    told = [each for each in problems if not any(each in item for item in open_ends)]
    left = [*told, *open_ends]
    if as_json:
        emit_json({"format_version": 1, "path": path, "engine": start.kind, "to_do": left})
        return
    out(f"wrote {path}")
    for item in left:
        out(f"  to do: {item}")
    then("benchspec", "lint", path)


def _write(path: Path, text: str, force: bool) -> None:
    if path.exists() and not force:
        raise UsageError(f"{path} exists", hint="choose another name, or add --force")
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise StorageFailure(f"{path} could not be written: {error.strerror}") from error


def _open_ends(text: str, path: str) -> list[str]:
    """What a person must still do: values that are guesses, and what the linter finds (places that
    are marked among it)."""
    from benchspec.lint.linter import lint
    from benchspec.spec.source import parse

    guesses = [
        f"line {number}: {line.partition(_GUESS)[2]}"
        for number, line in enumerate(text.splitlines(), 1)
        if _GUESS in line
    ]
    findings = lint(parse(text.encode(), path)).findings
    return guesses + [f"line {f.line}: {f.message} ({f.code})" for f in findings]
