"""`benchspec completion bash`: the shell's completion script, to be evaluated or saved."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from benchspec.cli.console import examples, out

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog=examples(
        'eval "$(benchspec completion bash)"',
        'eval "$(benchspec completion zsh)"',
        "benchspec completion fish | source",
    )
)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print the completion script for SHELL."""
    from benchspec.cli.main import cli

    completion = get_completion_class(shell)
    assert completion is not None
    out(completion(cli, {}, "benchspec", "_BENCHSPEC_COMPLETE").source())
