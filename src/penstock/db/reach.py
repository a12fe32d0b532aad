"""A connection for one command; database problems are raised as Penstock's errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import asyncpg

from penstock.db.connect import CONNECTION_LOST, connect, translated
from penstock.db.login_remedies import REFUSED, remedy_for, where
from penstock.db.types import Connection
from penstock.errors import DatabaseUnreachable, NotAllowed, SchemaOutdated

MISSING = (
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.InvalidSchemaNameError,
)


@contextmanager
def reaching(url: str | None = None) -> Iterator[None]:
    """Within the block the driver's errors about address, login, rights and schema become ours.

    With `url`, the error names the address (never the password) and the setting it came from.
    """
    try:
        with translated():
            yield
    except REFUSED as error:
        raise DatabaseUnreachable(_text(error), remedy_for(error, url)) from error
    except MISSING as error:
        raise SchemaOutdated(_text(error)) from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotAllowed(_text(error)) from error
    except CONNECTION_LOST as error:
        if isinstance(error, ValueError):
            raise  # an argument the driver cannot encode; nothing was sent
        said = f"{where(url)}: {_text(error)}" if url else _text(error)
        raise DatabaseUnreachable(said, remedy_for(error, url)) from error


@asynccontextmanager
async def reach(url: str, *, application_name: str) -> AsyncIterator[Connection]:
    """Connect for the block, in a way that also works behind a transaction pooler."""
    with reaching(url):
        connection = await connect(url, application_name=application_name, statement_cache_size=0)
        try:
            yield connection
        finally:
            with suppress(*CONNECTION_LOST):
                await connection.close(timeout=2)


def _text(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, FileNotFoundError):
        return "there is no such socket"
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")
