"""What a rendering depends on besides its data: library versions and font files.

Two machines with the same fingerprint render a bundle to the same bytes; `verify` compares bytes
only then, and words and numbers otherwise.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchspec import __version__
from benchspec.errors import EnvironmentFailure
from benchspec.report.html import template_dir
from benchspec.report.pdf import pango_version

STARTER = "spec.yaml.j2"
"""The one template that makes no report: what `benchspec new` writes."""

PACKAGES = (
    "jinja2", "markupsafe", "matplotlib", "numpy", "weasyprint", "pydyf", "fonttools", "tinycss2",
    "tinyhtml5", "cssselect2", "pyphen", "pillow",
)  # fmt: skip
FONTS = (
    "DejaVu Sans", "DejaVu Sans:bold", "DejaVu Sans:italic", "DejaVu Sans Mono",
    "Noto Sans CJK SC", "Noto Sans CJK SC:bold", "Noto Sans CJK JP", "Noto Sans Mono CJK SC",
)  # fmt: skip
"""The families of the print style sheet, in the forms that it uses."""


def fingerprint() -> dict[str, str]:
    """Name -> version or SHA-256 prefix, for `resolved.json`. What is absent reads `absent`."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {
        "benchspec": __version__,
        "python": python,
        **{name: _version(name) for name in PACKAGES},
        "pango": _pango(),
        "templates": _templates(),
        **{f"font {pattern}": _font(pattern) for pattern in FONTS},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _pango() -> str:
    try:
        return pango_version()
    except EnvironmentFailure:
        return "absent"


def _templates() -> str:
    digest = hashlib.sha256()
    for path in sorted(template_dir().rglob("*.*")):
        if path.name == STARTER:
            continue
        digest.update(path.relative_to(template_dir()).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _font(pattern: str) -> str:
    """The digest of the file that fontconfig gives for `pattern` (a substitute's, if absent)."""
    command = ["fc-match", "--format=%{file}", pattern]
    try:
        found = subprocess.run(command, capture_output=True, timeout=20, check=True)
        return hashlib.sha256(Path(found.stdout.decode()).read_bytes()).hexdigest()[:16]
    except (OSError, subprocess.SubprocessError):
        return "absent"
