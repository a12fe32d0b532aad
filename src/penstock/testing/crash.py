"""A worker that dies with its tasks, for tests of what happens then."""

from __future__ import annotations

from penstock.db.reconnecting import ReconnectingConnection
from penstock.engine.penstock import Penstock
from penstock.model import TaskId
from penstock.queue.duty_calls import DutyCalls
from penstock.queue.lease_calls import LeaseCalls

MOST = 1_000


async def claim_and_crash(app: Penstock) -> list[TaskId]:
    """Claim every due task as a worker of which nobody hears again; returns the tasks it took along.

    After `clock.advance(seconds=app.settings.lease_seconds + 1)` they go to the next worker, and their
    `ctx.losses` is one higher.
    """
    line = ReconnectingConnection(app.addresses.runtime, application_name="penstock testing")
    try:
        calls, lease_calls, queues = DutyCalls(line), LeaseCalls(line, line), app.registry.queues()
        worker_id = await calls.register("crashed", queues, app.settings.lease_seconds)
        return [
            lease.task_id
            for queue in queues
            for lease in await lease_calls.claim(worker_id, queue, MOST, [], [], True, True)
        ]
    finally:
        await line.close()
