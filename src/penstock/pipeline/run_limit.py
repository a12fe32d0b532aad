"""The time limit of a run, whose error names the setting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.errors import RunTooLong


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    """Stop what runs inside after this many seconds, with RunTooLong; other timeouts pass as they are."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if limit.expired():
            raise RunTooLong(seconds) from error
        raise
