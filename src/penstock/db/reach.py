"""A connection for one command: what goes wrong with the database comes out as one of our errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import asyncpg

from penstock.db.connect import CONNECTION_LOST, connect, translated
from penstock.db.types import Connection
from penstock.errors import DatabaseUnreachable, NotAllowed, SchemaOutdated

REFUSED = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidPasswordError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ClientConfigurationError,
)
MISSING = (
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.InvalidSchemaNameError,
)


@contextmanager
def reaching() -> Iterator[None]:
    """Within the block the driver's errors about address, login, rights and schema become ours."""
    try:
        with translated():
            yield
    except REFUSED as error:
        raise DatabaseUnreachable(_text(error)) from error
    except MISSING as error:
        raise SchemaOutdated(_text(error)) from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotAllowed(_text(error)) from error
    except CONNECTION_LOST as error:
        if isinstance(error, ValueError):
            raise  # an argument the driver cannot send; the database was not asked
        raise DatabaseUnreachable(_text(error)) from error


@asynccontextmanager
async def reach(url: str, *, application_name: str) -> AsyncIterator[Connection]:
    """Connect for the block, in a way that a transaction pooler allows too."""
    with reaching():
        connection = await connect(url, application_name=application_name, statement_cache_size=0)
        try:
            yield connection
        finally:
            with suppress(*CONNECTION_LOST):
                await connection.close(timeout=2)


def _text(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")
