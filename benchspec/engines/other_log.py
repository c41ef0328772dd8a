"""The log of an engine that is not known here: its warnings and errors, as it words them. Pure."""

from __future__ import annotations

import re

from benchspec.engines.log_reading import LogForm
from benchspec.engines.log_settings import EngineLog

FORM = LogForm(
    known="none",
    level=re.compile(
        r"^.{0,60}?(?P<level>\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b"
        r"|(?:(?<=level=)|(?<=level=\")|(?<=\[))(?i:debug|info|warn(?:ing)?|error|critical|fatal)\b)"
        r"[\]:|\"]*\s*"
    ),
)

LOG = EngineLog(kind="openai", form=FORM)
