"""Every error that a user may meet, as one tree; one exit code per branch.

    BenchspecError                    1  a negative answer
    |-- UsageError                    2  the command line, or a file that is not usable as named
    |   `-- SpecUnreadable            2  not UTF-8, not YAML, too large, or not openable
    |-- EnvironmentFailure            3  this machine or its engine
    |   |-- EngineFailure             3  the server did not start, died, hung, or answered nonsense
    |   |-- FetchFailure              3  a model could not be had, or is not the one pinned
    |   `-- StorageFailure            3  the bundle could not be written or read
    `-- RunInvalid                    4  measured, but no hypothesis could be decided

Findings of the linter are data, not exceptions. Anything else that escapes is a bug (exit 70).
"""

EXIT_DONE = 0
EXIT_NEGATIVE = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_INVALID = 4
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class BenchspecError(Exception):
    """A sentence for the user: what happened and where; `hint` is what to do next."""

    exit_code = EXIT_NEGATIVE

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(BenchspecError):
    """The command was called with something it cannot use."""

    exit_code = EXIT_USAGE


class SpecUnreadable(UsageError):
    """A spec is not UTF-8, not YAML, beyond the size limits, or cannot be opened."""


class EnvironmentFailure(BenchspecError):
    """This machine lacks something, or something on it failed."""

    exit_code = EXIT_ENVIRONMENT


class EngineFailure(EnvironmentFailure):
    """The inference server did not start, died, hung, or answered nonsense."""


class FetchFailure(EnvironmentFailure):
    """A model file could not be had, or is not the file that was pinned."""


class StorageFailure(EnvironmentFailure):
    """A bundle or cache file could not be written or read (full disk, permissions, damage)."""


class RunInvalid(BenchspecError):
    """The run ended, but no hypothesis could be decided because the run is invalid."""

    exit_code = EXIT_INVALID
