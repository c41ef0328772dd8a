"""llama.cpp's own server inside a Python process: llama-server without a binary to build.

    python -m benchspec.engines.llama_cpp_embedded -m model.gguf --host 127.0.0.1 --port 0 FLAG...

Takes llama-server's flags (see `llama_cpp_flags`), prints `listening URL` on standard output once
the model is loaded, logs to standard error as llama-server does, and serves until it is ended.
Exit codes: 1 the server did not start (the log says why), 2 a flag was refused, 3 no xllamacpp.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from benchspec.engines.llama_cpp_flags import FlagRefused, attributes

EXIT_NOT_STARTED = 1
EXIT_FLAG_REFUSED = 2
EXIT_NOT_INSTALLED = 3


def _parameters(xllamacpp: Any, values: dict[str, object]) -> Any:
    """A `CommonParams` with the dotted attributes set. Raises FlagRefused for a value out of range."""
    parameters = xllamacpp.CommonParams()
    for path, value in values.items():
        *owners, leaf = path.split(".")
        owner = parameters
        for name in owners:
            owner = getattr(owner, name)
        try:
            setattr(owner, leaf, value)
        except (TypeError, ValueError, OverflowError, AssertionError) as error:
            raise FlagRefused(f"{path} = {value!r}: {error}.") from None
    return parameters


def _fail(code: int, sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr, flush=True)  # noqa: T201
    return code


def main(argv: list[str]) -> int:
    """Serve until ended; returns an exit code only when there is nothing to serve."""
    try:
        import xllamacpp
    except ImportError as error:
        return _fail(EXIT_NOT_INSTALLED, f"xllamacpp cannot be imported: {error}")
    try:
        parameters = _parameters(xllamacpp, attributes(argv, os.environ))
    except FlagRefused as refused:
        return _fail(EXIT_FLAG_REFUSED, str(refused))
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        return _fail(EXIT_NOT_STARTED, str(error))
    print(f"listening {server.listening_address}", flush=True)  # noqa: T201
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
