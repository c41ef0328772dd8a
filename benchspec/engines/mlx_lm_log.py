"""What the log of mlx_lm.server says: little; it has no line about its settings, or about batching.

Pure. After mlx-lm 0.32.2 (`mlx_lm/server.py`), which logs as Python's `logging` does.
"""

from __future__ import annotations

import re

from benchspec.engines.log_drift import Marks, mark
from benchspec.engines.log_reading import LogForm, pattern
from benchspec.engines.log_settings import EngineLog

FORM = LogForm(
    known="mlx-lm 0.32.2",
    level=re.compile(r" - (?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) - "),
    findings=(
        pattern("warning", "draft-model", r"Draft model tokenizer does not match"),
        pattern("error", None, r"generation thread died"),
        pattern("warning", "chat-template", r"model does not support tool calling"),
    ),
    restarted=re.compile(r"Starting httpd at"),
    harmless=re.compile(r"not recommended for production"),
)

LOG = EngineLog(
    kind="mlx-lm",
    form=FORM,
    marks=Marks((mark("address", r"\bhttpd\b", r"Starting httpd at \S+ on port \d+"),)),
)
