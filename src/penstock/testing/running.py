"""Runs the due tasks of an app in this process, one after the other, until there are none."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engine.penstock import Penstock
from penstock.errors import InvalidArgument
from penstock.testing.binding import admin_url_of, declare
from penstock.testing.databases import connected
from penstock.testing.recorded import Recorder
from penstock.testing.serial_worker import serial_worker
from penstock.testing.task_results import TaskResult, read_result


async def run_until_empty(
    app: Penstock, *, documents: bool = False, raise_errors: bool = True, limit: int = 1_000
) -> Sequence[TaskResult]:
    """Run what is due, and what that enqueues, and return a result for each run; the app must be open.

    First the leases of silent workers are taken back and schedules whose tick has come fire, by the test's
    clock. Tasks that are not due yet stay where they are. The first failure ends the run and is raised as the
    handler raised it; with `raise_errors=False` it is in the results and the other tasks still run.
    `documents` also runs what Penstock does itself: documents, webhooks and messages. More than `limit` runs
    are an error: some task enqueues itself for ever.
    """
    registries, queues = [app.registry], set(app.registry.queues())
    if documents:
        engine = await app.engine()
        registries.append(engine.tasks.registry)
        queues.update(engine.queues)
    recorder = Recorder()
    registry = recorder.registry(registries)
    addresses = app.addresses
    admin_url = admin_url_of(app)
    await declare(registry, addresses.runtime)
    results: list[TaskResult] = []
    async with connected(admin_url) as admin:
        async with serial_worker(registry, app.settings, addresses.runtime, sorted(queues)) as worker:
            while (lease := await worker.next()) is not None:
                if len(results) == limit:
                    await worker.put_back(lease)
                    raise InvalidArgument(
                        f"{limit} tasks ran and there are still more, now {lease.task_type!r}",
                        "limit",
                        "Check whether the task enqueues itself without a delay, or pass a larger limit",
                    )
                recorder.raised = None
                await worker.run(lease)
                result = await read_result(admin, lease, recorder.raised)
                results.append(result)
                if raise_errors and result.error is not None:
                    raise result.explained()
    return results
