"""The HTML report as PDF/A-3a: tagged, archival, with the evidence attached."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchspec.errors import EnvironmentFailure
from benchspec.report.dates import instant

VARIANT = "pdf/a-3a"
EPOCH = datetime(1980, 1, 1, tzinfo=UTC)
"""Dates the attachments of a bundle that does not say when it was made."""
PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core fonts-noto-cjk"


@dataclass(frozen=True)
class AttachedFile:
    name: str
    data: bytes
    description: str


@dataclass(frozen=True)
class Pdf:
    """The file, and what WeasyPrint complained about (empty for a page of ours)."""

    data: bytes
    warnings: tuple[str, ...]


def render_pdf(html: bytes, attachments: Sequence[AttachedFile], *, utc: str) -> Pdf:
    """`html` (from `render_html`) as PDF. The same input gives the same bytes.

    `utc` is the ISO 8601 instant that dates the attachments. Nothing is fetched: any URL but
    `data:` is refused. Raises EnvironmentFailure when Pango or HarfBuzz is not installed.
    """
    weasyprint = _weasyprint()
    when = instant(utc) or EPOCH
    attached = [
        weasyprint.Attachment(
            string=file.data,
            name=file.name,
            description=file.description,
            created=when,
            modified=when,
            relationship="Data",
        )
        for file in attachments
    ]
    with _warnings() as warnings:
        document = weasyprint.HTML(
            string=html.decode("utf-8"),
            # Nothing may be fetched while rendering, not even a file of this machine.
            url_fetcher=weasyprint.URLFetcher(allowed_protocols=["data"]),
            media_type="print",
        )
        data = document.write_pdf(
            pdf_variant=VARIANT,
            pdf_identifier=hashlib.sha256(html).digest()[:16],
            attachments=attached,
            custom_metadata=True,
        )
    return Pdf(data, tuple(warnings))


def pango_version() -> str:
    """The version of the text layout library that WeasyPrint uses: `1.50.12`.

    Raises EnvironmentFailure as `render_pdf` does.
    """
    _weasyprint()
    from weasyprint.text.ffi import pango

    number = pango.pango_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def _weasyprint() -> Any:
    try:
        import weasyprint
    except OSError as error:
        raise EnvironmentFailure(
            f"the PDF needs system libraries that are not installed: {str(error)[:200]}",
            hint=f"apt-get install {PACKAGES} (report.html is complete without them)",
        ) from error
    return weasyprint


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Everything that WeasyPrint and fontTools log at warning or above, instead of on stderr."""
    collector = _Collector()
    loggers = [logging.getLogger(name) for name in ("weasyprint", "fontTools")]
    before = [(logger.propagate, list(logger.handlers)) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [collector], False
    try:
        yield collector.messages
    finally:
        for logger, (propagate, handlers) in zip(loggers, before, strict=True):
            logger.propagate, logger.handlers = propagate, handlers
