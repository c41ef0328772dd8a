"""From the address in a spec to where the load goes."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from benchspec.engines.base import Endpoint
from benchspec.errors import EnvironmentFailure, UsageError


def endpoint_of(url: str, *, dialect: str, api_key_env: str | None = None) -> Endpoint:
    """The endpoint of a base URL such as `http://127.0.0.1:8080` or `https://host/api/v1`.

    A trailing `/v1` is dropped: the paths of the API bring their own. The key is read from the
    environment variable `api_key_env` and goes into the headers only.

    Raises UsageError for an address that is not plain http(s), EnvironmentFailure without the key.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise UsageError(
            f"attach: {url!r} is not an address: {error}.",
            hint="Write it as http://127.0.0.1:8080.",
        ) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"attach: {url!r} is not an http or https address.",
            hint="Write it as http://127.0.0.1:8080.",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "attach: an address must not hold a user, a password or a query.",
            hint="Give a key in an environment variable and name that variable in the spec.",
        )
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Endpoint(
        host=parts.hostname,
        port=port,
        tls=parts.scheme == "https",
        base_path=path,
        dialect=dialect,
        headers=_authorization(api_key_env),
    )


def base_url(endpoint: Endpoint) -> str:
    """`http://host:port/path` of an endpoint."""
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"http{'s' * endpoint.tls}://{host}:{endpoint.port}{endpoint.base_path}"


def _authorization(api_key_env: str | None) -> tuple[tuple[str, str], ...]:
    if api_key_env is None:
        return ()
    key = os.environ.get(api_key_env, "")
    if not key:
        raise EnvironmentFailure(
            f"The environment variable {api_key_env}, which holds the API key, is not set.",
            hint=f"export {api_key_env}=… and run again.",
        )
    if not key.isascii() or not key.isprintable():
        raise EnvironmentFailure(f"The API key in {api_key_env} holds characters no header may.")
    return (("Authorization", f"Bearer {key}"),)
