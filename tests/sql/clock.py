"""A clock that stands still until the test moves it; every session of the test's database reads it."""

from __future__ import annotations

from datetime import datetime, timedelta

from penstock.db import Connection

# Like the real one it is stable, so that it stays an index condition; a table, so that all sessions share it.
INSTALL = """
create table internal.test_clock (at timestamptz not null);
grant select on internal.test_clock to public;
insert into internal.test_clock values (statement_timestamp());
create or replace function internal.clock()
returns timestamptz
language sql
stable
parallel safe
as $$
  select at from internal.test_clock;
$$;
"""


class Clock:
    """The time of `internal.clock()` in one test's database."""

    def __init__(self, admin: Connection, start: datetime) -> None:
        self._admin = admin
        self.start = start
        self.now = start

    @classmethod
    async def install(cls, admin: Connection) -> Clock:
        """Stop the clock at the server's time."""
        await admin.execute(INSTALL)
        return cls(admin, await admin.fetchval("select at from internal.test_clock"))

    async def advance(self, *, days: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        self.now += timedelta(days=days, minutes=minutes, seconds=seconds)
        await self._admin.execute("update internal.test_clock set at = $1", self.now)
        return self.now
