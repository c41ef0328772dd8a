"""The `benchspec` command: a table of commands, each imported when it is called."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import traceback

import click

from benchspec import __version__
from benchspec.cli.console import err, examples, fail
from benchspec.errors import (
    EXIT_BUG,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    BenchspecError,
    EnvironmentFailure,
    UsageError,
)

COMMANDS: dict[str, tuple[str, str]] = {
    "new": ("new", "Write a commented spec to start from."),
    "lint": ("lint", "Refuse a spec that cannot answer its own question."),
    "explain": ("explain", "The manual page of a rule or a check."),
    "plan": ("plan", "What a run would do: cells, order, time."),
    "run": ("run", "Measure, judge and report."),
    "resume": ("resume", "Finish a run that was stopped."),
    "report": ("report", "Render a bundle's report again."),
    "verify": ("verify", "Recompute everything in a bundle."),
    "audit": ("audit", "Judge numbers that someone else measured."),
    "compare": ("compare", "Two runs side by side; a rerun against its band."),
    "next": ("next", "The smallest change that would decide what is open."),
    "import": ("import_", "Read what another tool left into a spec."),
    "calibrate": ("calibrate", "The instrument's own error, here and now."),
    "probe": ("probe", "Measure memory and link bandwidth."),
    "model": ("model", "Bytes per token of a GGUF file."),
    "schema": ("schema", "The JSON Schema of the spec language."),
    "completion": ("completion", "Shell completion script."),
}
"""Command -> (module in benchspec.cli that holds `command`, one line of help)."""


class Commands(click.Group):
    """Lists the table without importing any command; imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"benchspec.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(_unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches

    if name in ("help", "version"):
        return f"no command {name!r}; did you mean '--{name}'?"
    near = get_close_matches(name, COMMANDS, 1)
    return f"no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "benchspec new",
        "benchspec lint spec.yaml",
        "benchspec plan spec.yaml",
        "benchspec run spec.yaml",
        heading="Start with",
    )
    + "Exit codes: 0 done, 1 negative answer, 2 usage, 3 environment or engine, 4 run invalid, "
    "130 interrupted.",
)
@click.version_option(
    __version__, "-V", "--version", prog_name="benchspec", message="%(prog)s %(version)s"
)
def cli() -> None:
    """A claim about LLM inference speed, as a test that can fail."""


def entry() -> None:
    """Run the command line; every failure leaves as a sentence and an exit code."""
    sys.exit(_run())


def _run() -> int:
    try:
        # A command that ends by `Exit(code)` makes click return that code.
        code = cli.main(prog_name="benchspec", standalone_mode=False)
    except BenchspecError as error:
        return fail(error)
    except click.exceptions.NoArgsIsHelpError as error:
        err(error.format_message())
        return EXIT_USAGE
    except click.ClickException as error:
        return fail(_misused(error))
    except (click.Abort, KeyboardInterrupt):
        err("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _close_stdout()
        return 128 + signal.SIGPIPE
    except OSError as error:
        return fail(_refused(error))
    except Exception as error:  # noqa: BLE001 - the one place where a bug is caught
        return _bug(error)
    return code if isinstance(code, int) else 0


def _misused(error: click.ClickException) -> UsageError:
    """Click's own words for a command line that it cannot use, in our form."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    return UsageError(
        error.format_message(),
        hint=f"{context.command_path} --help" if context is not None else None,
    )


def _refused(error: OSError) -> BenchspecError:
    """What the system refused where nobody expected it: a path that cannot be, too many files."""
    what = f"{str(error.filename)[:200]}: " if error.filename is not None else ""
    said = f"{what}{error.strerror or type(error).__name__}"
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(said, hint="check the path")
    return EnvironmentFailure(said, hint="the system refused it; nothing else is known of it")


def _close_stdout() -> None:
    """Point stdout at nothing, so that flushing at exit does not fail a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug(error: Exception) -> int:
    """A defect of benchspec: one sentence, the traceback only where it is asked for."""
    err(f"error: a defect in benchspec: {type(error).__name__}: {str(error)[:300]}")
    if os.environ.get("BENCHSPEC_TRACEBACK"):
        err("".join(traceback.format_exception(error)))
    else:
        err("  help: set BENCHSPEC_TRACEBACK=1 to see where, and please report it")
    return EXIT_BUG
