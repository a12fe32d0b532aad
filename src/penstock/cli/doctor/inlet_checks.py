"""Checks inlets: whether anybody reads them, how far they are behind, what they refuse."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.cli import output
from penstock.cli.doctor.checks import Check
from penstock.inlets.operations import InletFigures, InletOperations
from penstock.inlets.register import FACTORIES
from penstock.settings import Settings

LAG_SECONDS = 300.0
RECENT = timedelta(hours=24)
MOST_REFUSALS = 1_000


async def check_inlets(calls: InletOperations, settings: Settings | None = None) -> list[Check]:
    """What each inlet needs from somebody, or how it goes; nothing where there are no inlets."""
    now = datetime.now(UTC)
    checks = []
    for row in await calls.list():
        found = [
            *_judge(row, now),
            *await _refused(row, now, calls),
            *await _without_redrive(row, settings or Settings()),
        ]
        checks += found or [Check("inlets", "ok", _figures(row, now))]
    return checks


def _figures(row: InletFigures, now: datetime) -> str:
    known = row.kind in FACTORIES or _is_recent(row, now)
    lag = "unknown" if row.lag_seconds is None or not known else f"{row.lag_seconds:,.1f} s"
    return (
        f"{row.name}: {row.received:,} received, {row.taken:,} taken,"
        f" {output.count(row.duplicates, 'duplicate')}, {row.refused:,} refused, lag {lag}"
    )


def _judge(row: InletFigures, now: datetime) -> list[Check]:
    if not row.enabled:
        waits = "" if not row.backlog else f" with {output.count(row.backlog, 'message')} waiting"
        return [
            Check(
                "inlets",
                "warn",
                f"{row.name} is paused{waits}",
                f"Resume it: penstock inlet resume {row.name}",
            )
        ]
    if row.kind not in FACTORIES:
        return _judge_bridge(row, now)
    if row.error:
        remedy = f"Read: penstock inlet show {row.name}; it is tried again by itself"
        return [Check("inlets", "fail", f"{row.name} cannot be read: {row.error}", remedy)]
    if row.holder is None:
        remedy = f"Start a worker: penstock worker; or read it alone: penstock inlet {row.name}"
        return [Check("inlets", "fail", f"nobody reads {row.name}", remedy)]
    remedy = f"Read it beside its worker: penstock inlet {row.name}; or look at its sender"
    return _lagging(row, remedy)


def _judge_bridge(row: InletFigures, now: datetime) -> list[Check]:
    """A bridge does not say that it runs: only its messages do."""
    if row.last_received_at is not None and now - row.last_received_at < RECENT:
        remedy = "Start another bridge, or look at its sender"
        return _lagging(row, remedy) if _is_recent(row, now) else []
    since = "yet" if row.last_received_at is None else f"since {row.last_received_at:%Y-%m-%d %H:%M} UTC"
    remedy = f"See that its bridge runs; if it is no longer used: penstock inlet remove {row.name}"
    return [Check("inlets", "warn", f"{row.name} has received nothing {since}", remedy)]


def _is_recent(row: InletFigures, now: datetime) -> bool:
    """What a bridge's last batch had waited says nothing of now, if that was long ago."""
    received = row.last_received_at
    return received is not None and now - received < timedelta(seconds=LAG_SECONDS)


def _lagging(row: InletFigures, remedy: str) -> list[Check]:
    if (row.lag_seconds or 0) <= LAG_SECONDS:
        return []
    message = f"messages of {row.name} wait for {row.lag_seconds:,.0f} s before they are taken in"
    return [Check("inlets", "warn", message, remedy)]


async def _refused(row: InletFigures, now: datetime, calls: InletOperations) -> list[Check]:
    """Only what was refused recently: the count of all time never falls."""
    if not row.enabled or not row.refused:
        return []
    refusals = await calls.refusals(row.name, MOST_REFUSALS)
    recent = sum(now - each.at < RECENT for each in refusals)
    if not recent:
        return []
    more = " or more" if recent == MOST_REFUSALS else ""
    message = f"{row.name} refused {output.count(recent, 'message')}{more} in the last 24 hours"
    return [Check("inlets", "warn", message, f"See why: penstock inlet show {row.name}")]


async def _without_redrive(row: InletFigures, settings: Settings) -> list[Check]:
    from penstock.inlets.redrive import REMEDY, missing_redrive

    if not row.enabled:
        return []
    what = await missing_redrive(settings, row.kind, row.config)
    return [] if what is None else [Check("inlets", "warn", f"{row.name}: {what}", REMEDY)]
