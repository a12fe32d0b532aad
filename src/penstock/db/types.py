"""The driver's types under our names, so that no other package imports the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

if TYPE_CHECKING:
    Record: TypeAlias = asyncpg.Record
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
else:
    # The driver's classes are not generic at run time.
    Record = asyncpg.Record
    Connection = asyncpg.Connection | PoolConnectionProxy
    Pool = asyncpg.Pool
