"""A clock that stands still until the test moves it; every session of the test's database reads it."""

from __future__ import annotations

from datetime import datetime, timedelta

from penstock.db import Connection
from penstock.errors import InvalidArgument
from penstock.queue.schedule import next_tick
from penstock.testing.blocking import run_blocking
from penstock.testing.databases import Database

# Like the real one it is stable, so that it stays an index condition; a table, so that all sessions share it.
_INSTALL = """
create table if not exists internal.test_clock (at timestamptz not null);
grant select on internal.test_clock to public;
insert into internal.test_clock
select statement_timestamp() where not exists (select from internal.test_clock);
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
    """The time by which the queue decides about delays, retries, leases and schedules.

    It is the database's clock: `datetime.now()` in your handlers is not changed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        database.execute(_INSTALL)
        self._now: datetime = database.fetch("select at from internal.test_clock")[0]["at"]

    @property
    def now(self) -> datetime:
        return self._now

    def advance(
        self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> datetime:
        """Let time pass; what has become due runs with the next `run_until_empty`."""
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        if step < timedelta(0):
            raise InvalidArgument(
                f"the clock cannot go back by {-step}", "seconds", "Begin the test with clock.set(…) instead"
            )
        self._now += step
        run_blocking(self._write(anew=False))
        return self._now

    def set(self, at: datetime) -> datetime:
        """Start the test at this time; schedules wait for their first tick after it."""
        if at.tzinfo is None:
            raise InvalidArgument(
                f"{at.isoformat()} has no time zone", "at", "Write: datetime(2026, 1, 5, 6, 59, tzinfo=UTC)"
            )
        self._now = at
        run_blocking(self._write(anew=True))
        return self._now

    async def _write(self, *, anew: bool) -> None:
        async with self._database.connect() as admin:
            await admin.execute("update internal.test_clock set at = $1", self._now)
            if anew:
                await self._start_schedules(admin)

    async def _start_schedules(self, admin: Connection) -> None:
        """Time did not pass, so no tick was missed."""
        for row in await admin.fetch("select schedule_name, cron, timezone from queues.schedule"):
            await admin.execute(
                "update queues.schedule set next_at = $2 where schedule_name = $1",
                row["schedule_name"],
                next_tick(row["cron"], row["timezone"], self._now),
            )
