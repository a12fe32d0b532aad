"""Checks queues: workers, backlogs, dead letters, promises."""

from __future__ import annotations

from penstock.cli import output
from penstock.cli.doctor.checks import Check
from penstock.model import queue_names as queues
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import DeadFilter, QueueStats

SILENT_SECONDS = 30
PRODUCT = (
    *(queues.INGEST, queues.REINDEX, queues.SHARD, queues.DELIVER, queues.MAINTAIN),
    *(queues.SUPERVISE, queues.EMAIL, queues.SMS, queues.DELETE, queues.DELETE_ACCOUNT),
)
"""The queues served by a worker without --app."""


async def check_queues(calls: Operations, old_seconds: float) -> list[Check]:
    """All checks of queues, on a migrated database."""
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
    checks = [
        Check(
            "workers",
            "warn",
            f"worker {w.worker_id} ({w.worker_name}) has been silent for {w.silent_seconds:,.0f} s"
            f" with {output.count(w.leases, 'lease')}",
            "Nothing is lost: another worker takes over its leases. Find out why it died",
        )
        for w in silent
        if w.leases or w.silent_seconds < 3_600
    ]
    checks += [check for queue in await calls.stats() if (check := _unserved(queue)) is not None]
    if not alive:
        idle = (
            "none is running; documents and tasks wait until you start one: penstock up, or penstock worker"
        )
        return checks or [Check("workers", "ok", idle)]
    served = sorted({queue for w in rows if w not in silent for queue in w.queue_names})
    documents = (
        "" if queues.INGEST in served else "; none processes documents, start one with penstock worker"
    )
    return [*checks, Check("workers", "ok", f"{output.count(alive, 'worker')} alive{documents}")]


def _unserved(queue: QueueStats) -> Check | None:
    """Tasks that no worker serves. Tasks with keys, as documents have, wait until a worker admits them."""
    waiting = queue.ready + queue.waiting
    if queue.paused or queue.workers or not waiting:
        return None
    what = output.count(waiting, "document" if queue.queue == queues.INGEST else "task")
    certain = queue.ready or queue.queue == queues.INGEST
    return Check(
        "workers",
        "fail" if certain else "warn",
        f"{what} in the queue {queue.queue} {('is' if waiting == 1 else 'are')} "
        f"waiting{('' if certain else ', perhaps for a later time,')} and no worker serves that "
        "queue",
        "Start one: penstock up, or penstock worker"
        if queue.queue in PRODUCT
        else (f"Start one with the app of its tasks: penstock worker --app MODULE:APP --queue {queue.queue}"),
    )


async def _queues(calls: Operations, old_seconds: float) -> list[Check]:
    checks = []
    rows = await calls.stats()
    for queue in rows:
        age = queue.oldest_ready_seconds or 0.0
        if queue.paused and queue.ready:
            message = f"{queue.queue} is paused with {output.count(queue.ready, 'ready task')}"
            checks.append(Check("queues", "warn", message, f"penstock queue resume {queue.queue}"))
        elif age > old_seconds:
            message = (
                f"the oldest of {output.count(queue.ready, 'ready task')} in {queue.queue} has waited"
                f" for {age:,.0f} s"
            )
            remedy = f"Add workers or concurrency, or raise the limit: penstock queue limits {queue.queue}"
            checks.append(Check("queues", "warn", message, remedy))
    ready = sum(queue.ready for queue in rows)
    return checks or [
        Check("queues", "ok", f"{output.count(len(rows), 'queue')}, {output.count(ready, 'ready task')}")
    ]


async def _dead_letters(calls: Operations) -> list[Check]:
    causes = await calls.causes(DeadFilter(), 5)
    if not causes:
        return [Check("dead letters", "ok", "none")]
    return [
        Check(
            "dead letters",
            "warn",
            f"{c.letters} of {c.task_type}: {c.error_code}: {c.error_message[:120]}",
            f"Fix the cause, then run: penstock dead replay --fingerprint {c.fingerprint}",
        )
        for c in causes
    ]


async def _promises(calls: Operations) -> list[Check]:
    remedy = "This must not happen: keep a backup (penstock db backup) and report it"
    broken = [
        Check("promises", "fail", f"{row.promise}: broken {output.count(row.broken, 'time')}", remedy)
        for row in await calls.audit_invariants()
    ]
    return broken or [Check("promises", "ok", "all hold for the current data")]
