"""A clock that stands still until the test moves it; each session that sets none keeps the real one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2030, 1, 1, tzinfo=UTC)

INSTALL = """
create or replace function internal.clock()
returns timestamptz
language sql
stable
parallel safe
as $$
  select coalesce(
    nullif(pg_catalog.current_setting('penstock.test_clock', true), '')::timestamptz,
    pg_catalog.statement_timestamp());
$$;
"""

SET = "select set_config('penstock.test_clock', $1, false)"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)
