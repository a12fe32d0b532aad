"""What doctor looks at in the queues: workers, backlogs, dead letters, promises."""

from __future__ import annotations

from penstock.cli.checks import Check
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import DeadFilter

SILENT_SECONDS = 30


async def check_queues(calls: Operations, old_seconds: float) -> list[Check]:
    """All of them, on a migrated database."""
    return [
        *await _workers(calls),
        *await _queues(calls, old_seconds),
        *await _dead_letters(calls),
        *await _promises(calls),
    ]


async def _workers(calls: Operations) -> list[Check]:
    rows = await calls.workers()
    silent = [w for w in rows if w.lost_at is not None or w.silent_seconds > SILENT_SECONDS]
    alive = len(rows) - len(silent)
    backlog = sum(queue.ready for queue in await calls.stats() if not queue.paused)
    checks = [
        Check(
            "workers",
            "warn",
            f"worker {w.worker_id} ({w.worker_name}) is silent for {w.silent_seconds:,.0f} s"
            f" with {w.leases} leases",
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


async def _promises(calls: Operations) -> list[Check]:
    remedy = "Keep a backup (penstock db backup) and report it: this must not happen"
    broken = [
        Check("promises", "fail", f"{row.promise}: broken {row.broken} times", remedy)
        for row in await calls.audit_invariants()
    ]
    return broken or [Check("promises", "ok", "all hold on the data there is")]
