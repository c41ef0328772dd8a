"""The digest that a run, its bundle and its report name the spec by."""

from __future__ import annotations

import hashlib


def sha256_of(data: bytes) -> str:
    """SHA-256 of the bytes as given, 64 lower-case hex digits.

    Of the file, not of its meaning: a reader can check it with `sha256sum spec.yaml`.
    """
    return hashlib.sha256(data).hexdigest()
