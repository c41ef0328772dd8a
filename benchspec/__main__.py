"""`python -m benchspec` is the same as the `benchspec` command."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # as in benchspec.errors, which is not imported yet when it is needed


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported is no traceback either."""
    try:
        from benchspec.cli.main import entry

        entry()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
