"""Cron lines: the tick after a moment, in a zone, and invalid lines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from penstock.errors import BadCron
from penstock.queue.schedule import Schedule, next_tick


@pytest.mark.parametrize(
    ("cron", "zone", "after", "tick"),
    [
        ("*/5 * * * *", "UTC", "2026-03-01T10:02:30", "2026-03-01T10:05:00"),
        ("*/5 * * * *", "UTC", "2026-03-01T10:05:00", "2026-03-01T10:10:00"),
        ("0 7 * * mon-fri", "UTC", "2026-03-06T08:00:00", "2026-03-09T07:00:00"),
        ("@hourly", "UTC", "2026-03-01T23:59:59", "2026-03-02T00:00:00"),
        ("0 7 * * *", "Europe/Vienna", "2026-01-15T00:00:00", "2026-01-15T06:00:00"),
        ("0 7 * * *", "Europe/Vienna", "2026-07-15T00:00:00", "2026-07-15T05:00:00"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00:00", "2028-02-29T00:00:00"),
    ],
)
def test_the_next_tick_is_the_first_after_the_moment(cron: str, zone: str, after: str, tick: str) -> None:
    found = next_tick(cron, zone, datetime.fromisoformat(after).replace(tzinfo=UTC))
    assert found == datetime.fromisoformat(tick).replace(tzinfo=UTC)
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    ("cron", "zone", "says"),
    [
        ("* * *", "UTC", "3 fields, not 5"),
        ("", "UTC", "0 fields, not 5"),
        ("* * * * * *", "UTC", "6 fields, not 5"),
        ("61 * * * *", "UTC", "61"),
        ("a b c d e", "UTC", "a"),
        ("@sometimes", "UTC", "@sometimes"),
        ("0 0 31 2 *", "UTC", ""),
        ("* * * * *", "Europe/Graz", "no time zone 'Europe/Graz'"),
        ("* * * * *", "../etc/passwd", "no time zone"),
    ],
)
def test_an_invalid_cron_line_is_refused_when_it_is_declared(cron: str, zone: str, says: str) -> None:
    with pytest.raises(BadCron) as caught:
        Schedule(name="s", cron=cron, task_type="t", timezone=zone)
    assert says in str(caught.value)
    assert caught.value.expression == cron
    assert caught.value.remedy
