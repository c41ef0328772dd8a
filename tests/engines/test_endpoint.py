"""From an address to where the load goes."""

from __future__ import annotations

import pytest

from benchspec.engines.base import Endpoint
from benchspec.engines.endpoint import base_url, endpoint_of
from benchspec.errors import EnvironmentFailure, UsageError


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080", ("127.0.0.1", 8080, False, "")),
        ("http://127.0.0.1:8080/v1/", ("127.0.0.1", 8080, False, "")),
        ("https://host.example/api/v1", ("host.example", 443, True, "/api")),
        ("http://[::1]:9000", ("::1", 9000, False, "")),
    ],
)
def test_an_address_is_read(url: str, expected: tuple[str, int, bool, str]) -> None:
    endpoint = endpoint_of(url, dialect="chat")
    assert (endpoint.host, endpoint.port, endpoint.tls, endpoint.base_path) == expected
    assert endpoint.dialect == "chat"
    assert endpoint_of(base_url(endpoint), dialect="chat") == endpoint


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8080", "ftp://host", "http://", "http://host:99999", "http://u:p@host", "file:///x",
     "http://host/?key=1"],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="attach"):
        endpoint_of(url, dialect="chat")


def test_a_key_is_taken_from_the_environment_and_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret")
    endpoint = endpoint_of("http://host", dialect="chat", api_key_env="MY_KEY")
    assert endpoint.headers == (("Authorization", "Bearer s3cret"),)
    assert "s3cret" not in repr(endpoint)


@pytest.mark.parametrize("key", ["", "line\nbreak", "schlüssel"])
def test_a_key_that_is_missing_or_unusable_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(EnvironmentFailure, match="MY_KEY"):
        endpoint_of("http://host", dialect="chat", api_key_env="MY_KEY")


def test_an_endpoint_without_a_key_has_no_headers() -> None:
    assert endpoint_of("http://h", dialect="chat") == Endpoint("h", 80, False, "", "chat")
