"""Remedies for a server that is down, rejects a login or lacks a database."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from penstock.errors import PenstockError
from penstock.settings import Settings

REFUSED = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidPasswordError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ClientConfigurationError,
)
"""Errors by which a reachable server rejects the connection."""


def where(url: str) -> str:
    """Host, port and database of an address for display; never the password."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    host = host or query.get("host", ["localhost"])[0]
    port = port or int(query.get("port", ["5432"])[0])
    return f"{unquote(host)}:{port}{parts.path}"


def remedy_for(error: Exception, url: str | None) -> str:
    """The command or setting that fixes it."""
    variable = _variable(url)
    if variable is None:
        return _of_embedded(error, url or "")
    match error:
        case asyncpg.InvalidCatalogNameError():
            name = urlsplit(url or "").path.lstrip("/") or "NAME"
            return f"Create it as a superuser: create database {name}; or correct {variable}"
        case asyncpg.InvalidPasswordError():
            return f"Correct the user and the password in {variable}"
        case asyncpg.InvalidAuthorizationSpecificationError():
            return f"Correct the user in {variable}, or allow it in the server's pg_hba.conf"
        case asyncpg.ClientConfigurationError():
            return f"Correct {variable}: postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        case asyncpg.TooManyConnectionsError():
            return "Stop some of its clients, or raise max_connections on the server"
        case asyncpg.CannotConnectNowError():
            return "The server is starting or stopping; try again in a moment"
        case _:
            return f"Start the server, or correct {variable}"


def _of_embedded(error: Exception, url: str) -> str:
    passwords = parse_qs(urlsplit(url).query)["passfile"][0]
    if isinstance(error, REFUSED):
        folder = Path(passwords).parent
        return (
            f"Run: penstock db stop, then: rm {passwords}; the next command in {folder} creates new passwords"
        )
    return "Run it again, or run penstock doctor"


def _variable(url: str | None) -> str | None:
    """The setting an address came from; None for the embedded server's."""
    try:
        settings = Settings()
    except PenstockError:
        return "PENSTOCK_DATABASE_URL"
    for name in ("database_url", "operator_url", "admin_url", "listen_url"):
        if url is not None and getattr(settings, name) == url:
            return f"PENSTOCK_{name.upper()}"
    is_embedded = url is not None and "passfile" in parse_qs(urlsplit(url).query)
    return None if is_embedded else "PENSTOCK_DATABASE_URL"
