"""After every test of the queue its promises must hold on the data the test left."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import cast

import pytest

from tests.plugins.database import Database


@pytest.fixture(autouse=True)
def promises_hold(request: pytest.FixtureRequest) -> Iterator[None]:
    if "database" not in request.fixturenames:
        yield
        return
    database = cast("Database", request.getfixturevalue("database"))
    yield
    broken = asyncio.run(_broken_promises(database))
    assert broken == {}, f"the test left broken promises: {broken}"


async def _broken_promises(database: Database) -> dict[str, int]:
    async with database.connect("operator", name="audit") as connection:
        return {
            row["promise"]: row["broken"]
            for row in await connection.fetch("select * from queues.audit_invariants()")
        }
