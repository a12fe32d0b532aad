"""Cron schedules: an expression, a time zone, and the next tick after a given time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterBadCronError, CroniterBadDateError, croniter

from penstock.errors import BadCron


@dataclass(frozen=True, slots=True)
class Schedule:
    """A task that is enqueued once per tick, however many workers run; missed ticks are not made up."""

    name: str
    cron: str
    task_type: str
    payload: str = "{}"
    timezone: str = "UTC"
    queue: str | None = None
    priority: int | None = None

    def __post_init__(self) -> None:
        next_tick(self.cron, self.timezone, datetime(2026, 1, 1, tzinfo=UTC))


def next_tick(cron: str, timezone: str, after: datetime) -> datetime:
    """The first tick after the given time; BadCron if there is none."""
    fields = len(cron.split())
    if fields != 5 and not cron.startswith("@"):
        raise BadCron(cron, f"it has {fields} fields, not 5")
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        raise BadCron(cron, f"there is no time zone {timezone!r}") from None
    try:
        tick = croniter(cron, after.astimezone(zone)).get_next(datetime)
    except (CroniterBadCronError, CroniterBadDateError, ValueError, KeyError) as error:
        raise BadCron(cron, str(error)) from None
    found: datetime = tick
    return found.astimezone(UTC)
