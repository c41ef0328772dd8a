"""`python -m benchspec` is the same as the `benchspec` command."""

from benchspec.cli.main import entry

if __name__ == "__main__":
    entry()
