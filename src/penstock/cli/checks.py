"""What doctor looks at in the queues, check by check."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from penstock.db.doctor_queries import ServerFacts
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import DeadFilter, HorizonPin

Status = Literal["ok", "warn", "fail"]

SILENT_SECONDS = 30
DEAD_TUPLES = 100_000


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    check: str
    status: Status
    message: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """From when on something counts as a problem."""

    old_seconds: float
    pinned_seconds: float


async def look(calls: Operations, facts: ServerFacts, patience: Patience) -> AsyncIterator[Check]:
    """All checks that need a migrated database."""
    for checks in (
        await _workers(calls),
        await _queues(calls, patience.old_seconds),
        await _dead_letters(calls),
        await _dead_tuples(calls),
        await _horizon(calls, facts, patience.pinned_seconds),
        _vacuum(facts),
        _notifications(facts),
        await _partitions(calls),
        await _promises(calls),
    ):
        for check in checks:
            yield check


async def _workers(calls: Operations) -> list[Check]:
    rows = await calls.workers()
    silent = [w for w in rows if w.lost_at is not None or w.silent_seconds > SILENT_SECONDS]
    alive = len(rows) - len(silent)
    backlog = sum(queue.ready for queue in await calls.stats() if not queue.paused)
    checks = [
        Check(
            "workers",
            "warn",
            f"worker {w.worker_id} ({w.worker_name}) is silent for {w.silent_seconds:,.0f} s, {w.leases} leases",
            "Nothing is lost: a live worker takes its leases back. Look at why it died",
        )
        for w in silent
        if w.leases or w.silent_seconds < 3_600
    ]
    if not alive and backlog:
        remedy = "Start one: penstock worker --app module:app"
        return [*checks, Check("workers", "fail", f"{backlog} tasks are ready and no worker lives", remedy)]
    return [*checks, Check("workers", "ok", f"{alive} alive")]


async def _queues(calls: Operations, old_seconds: float) -> list[Check]:
    checks = []
    rows = await calls.stats()
    for queue in rows:
        age = queue.oldest_ready_seconds or 0.0
        if queue.paused and queue.ready:
            message = f"{queue.queue} is paused with {queue.ready} tasks ready"
            checks.append(Check("queues", "warn", message, f"penstock queue resume {queue.queue}"))
        elif age > old_seconds:
            message = (
                f"the oldest ready task of {queue.queue} waits for {age:,.0f} s behind {queue.ready} tasks"
            )
            remedy = f"More workers or concurrency, or a wider limit: penstock queue limits {queue.queue}"
            checks.append(Check("queues", "warn", message, remedy))
    ready = sum(queue.ready for queue in rows)
    return checks or [Check("queues", "ok", f"{len(rows)} queues, {ready} tasks ready")]


async def _dead_letters(calls: Operations) -> list[Check]:
    causes = await calls.causes(DeadFilter(), 5)
    if not causes:
        return [Check("dead letters", "ok", "none")]
    return [
        Check(
            "dead letters",
            "warn",
            f"{c.letters} of {c.task_type}: {c.error_code}: {c.error_message[:120]}",
            f"Mend the cause, then: penstock dead replay --fingerprint {c.fingerprint}",
        )
        for c in causes
    ]


async def _dead_tuples(calls: Operations) -> list[Check]:
    ready = next((row for row in await calls.dead_tuples() if row.table_name == "ready"), None)
    live, dead = (ready.live, ready.dead) if ready is not None else (0, 0)
    if dead > DEAD_TUPLES and dead > live:
        remedy = "Vacuum does not get through: see horizon and autovacuum below"
        return [Check("dead tuples", "warn", f"{dead:,} in queues.ready beside {live:,} live ones", remedy)]
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
    return checks or [Check("horizon", "ok", "nobody keeps vacuum from its work")]


def _age(pin: HorizonPin, now: datetime) -> float | None:
    return None if pin.since is None else (now - pin.since).total_seconds()


def _pin(pin: HorizonPin, now: datetime) -> str:
    age = _age(pin, now)
    since = "" if age is None else f" for {age:,.0f} s"
    pid = "" if pin.pid is None else f" pid {pin.pid}"
    return f"{pin.kind}{pid} ({pin.who.strip()}) pins the xmin horizon{since}, {pin.age_xids} transactions: {pin.doing}"


def _unpin(pin: HorizonPin) -> str:
    match pin.kind:
        case "session":
            return f"Let it commit, or: select pg_terminate_backend({pin.pid})"
        case "replication slot":
            return f"If nobody reads it any more: select pg_drop_replication_slot('{pin.who}')"
        case _:
            return f"commit prepared or rollback prepared '{pin.who}'"


def _vacuum(facts: ServerFacts) -> list[Check]:
    if not facts.autovacuum:
        remedy = "alter system set autovacuum = on; select pg_reload_conf()"
        return [Check("autovacuum", "fail", "it is switched off on this server", remedy)]
    if facts.not_vacuumed:
        names = ", ".join(facts.not_vacuumed)
        remedy = f"alter table {facts.not_vacuumed[0]} reset (autovacuum_enabled)"
        return [Check("autovacuum", "fail", f"it is switched off for {names}", remedy)]
    return [Check("autovacuum", "ok", "on")]


def _notifications(facts: ServerFacts) -> list[Check]:
    message = f"the notification queue is {facts.notification_usage:.1%} full"
    if facts.notification_usage < 0.1:
        return [Check("notifications", "ok", message)]
    status: Status = "fail" if facts.notification_usage > 0.5 else "warn"
    remedy = "A session that listens sits in a long transaction: see horizon; full, it stops every enqueue"
    return [Check("notifications", status, message, remedy)]


async def _partitions(calls: Operations) -> list[Check]:
    checks = []
    remedy = "Start a worker: it adds partitions every minute; see its log for maintenance that fails"
    for row in await calls.partitions():
        if row.current_child is None:
            checks.append(
                Check("partitions", "fail", f"queues.{row.table_name} has no room for the next id", remedy)
            )
        elif row.ahead < 2:
            message = f"queues.{row.table_name} has {row.ahead} partitions ahead"
            checks.append(Check("partitions", "warn" if row.ahead else "fail", message, remedy))
    return checks or [Check("partitions", "ok", "task, attempt and error have partitions ahead")]


async def _promises(calls: Operations) -> list[Check]:
    remedy = "Keep a backup (penstock db backup) and report it: this must not happen"
    broken = [
        Check("promises", "fail", f"{row.promise}: broken {row.broken} times", remedy)
        for row in await calls.audit_invariants()
    ]
    return broken or [Check("promises", "ok", "all hold on the data there is")]
