"""Checks the server: vacuum and what blocks it, notifications, partitions."""

from __future__ import annotations

from datetime import datetime

from penstock.cli import output
from penstock.cli.doctor.checks import Check, Status
from penstock.db.doctor_queries import ServerFacts
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import HorizonPin

DEAD_TUPLES = 100_000


async def check_server(calls: Operations, facts: ServerFacts, pinned_seconds: float) -> list[Check]:
    """All checks of the server, on a migrated database."""
    return [
        *await _dead_tuples(calls),
        *await _horizon(calls, facts, pinned_seconds),
        *_vacuum(facts),
        *_notifications(facts),
        *await _partitions(calls),
    ]


async def _dead_tuples(calls: Operations) -> list[Check]:
    ready = next((row for row in await calls.dead_tuples() if row.table_name == "ready"), None)
    live, dead = (ready.live, ready.dead) if ready is not None else (0, 0)
    if dead > DEAD_TUPLES and dead > live:
        remedy = "Vacuum cannot keep up: see horizon and autovacuum below"
        return [Check("dead tuples", "warn", f"{dead:,} in queues.ready, with {live:,} live ones", remedy)]
    return [Check("dead tuples", "ok", f"{dead:,} in queues.ready")]


async def _horizon(calls: Operations, facts: ServerFacts, pinned_seconds: float) -> list[Check]:
    now = await calls.clock()
    old = [
        p for p in await calls.horizon_pins() if _age(p, now) is None or (_age(p, now) or 0) >= pinned_seconds
    ]
    checks = [
        Check("horizon", "warn", _pin(pin, now), _unpin(pin))
        for pin in old
        if pin.kind == "session" or pin.age_xids > DEAD_TUPLES
    ]
    if not facts.sees_sessions:
        remedy = "As a superuser: grant pg_read_all_stats to penstock_queue"
        checks.append(Check("horizon", "warn", "other users' sessions cannot be seen", remedy))
    return checks or [Check("horizon", "ok", "nothing blocks vacuum")]


def _age(pin: HorizonPin, now: datetime) -> float | None:
    return None if pin.since is None else (now - pin.since).total_seconds()


def _pin(pin: HorizonPin, now: datetime) -> str:
    age = _age(pin, now)
    since = "" if age is None else f" for {age:,.0f} s"
    pid = "" if pin.pid is None else f" pid {pin.pid}"
    what = f"{pin.kind}{pid} ({pin.who.strip()})"
    return f"{what} pins the xmin horizon{since}, {output.count(pin.age_xids, 'transaction')}: {pin.doing}"


def _unpin(pin: HorizonPin) -> str:
    match pin.kind:
        case "session":
            return f"Let it commit, or: select pg_terminate_backend({pin.pid})"
        case "replication slot":
            return f"If nothing reads it any more: select pg_drop_replication_slot('{pin.who}')"
        case _:
            return f"commit prepared or rollback prepared '{pin.who}'"


def _vacuum(facts: ServerFacts) -> list[Check]:
    if not facts.autovacuum:
        remedy = "alter system set autovacuum = on; select pg_reload_conf()"
        return [Check("autovacuum", "fail", "autovacuum is off on this server", remedy)]
    if facts.not_vacuumed:
        names = ", ".join(facts.not_vacuumed)
        remedy = f"alter table {facts.not_vacuumed[0]} reset (autovacuum_enabled)"
        return [Check("autovacuum", "fail", f"autovacuum is off for {names}", remedy)]
    return [Check("autovacuum", "ok", "on")]


def _notifications(facts: ServerFacts) -> list[Check]:
    message = f"the notification queue is {facts.notification_usage:.1%} full"
    if facts.notification_usage < 0.1:
        return [Check("notifications", "ok", message)]
    status: Status = "fail" if facts.notification_usage > 0.5 else "warn"
    remedy = (
        "A listening session has a long transaction open: see horizon. If the queue is full, "
        "every enqueue fails"
    )
    return [Check("notifications", status, message, remedy)]


async def _partitions(calls: Operations) -> list[Check]:
    checks = []
    remedy = (
        "Start a worker: it adds partitions every minute; if one is running, look for failing "
        "maintenance in its log"
    )
    for row in await calls.partitions():
        if row.current_child is None:
            checks.append(
                Check(
                    "partitions", "fail", f"queues.{row.table_name} has no partition for the next id", remedy
                )
            )
        elif row.ahead < 2:
            message = f"queues.{row.table_name} has {row.ahead} partitions ahead"
            checks.append(Check("partitions", "warn" if row.ahead else "fail", message, remedy))
    return checks or [Check("partitions", "ok", "task, attempt and error have partitions ahead")]
