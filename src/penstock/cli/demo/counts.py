"""Counts the demo's tasks in the queue's own tables, so that the sum proves that none is lost."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.cli.demo.app import QUEUE
from penstock.db import Connection
from penstock.queue.operations import Operations

ATTEMPTS = """
  select
    count(distinct a.task_id) filter (where a.outcome = 'completed'),
    count(*) filter (where a.outcome = 'completed'),
    count(*) filter (where a.outcome = 'failed'),
    count(*) filter (where a.outcome = 'lost')
  from queues.attempt as a
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """The state of all tasks at one moment; `lost` are those found nowhere."""

    enqueued: int
    queued: int
    running: int
    done: int
    dead: int
    completions: int
    failures: int
    rescued: int

    @property
    def lost(self) -> int:
        return self.enqueued - self.queued - self.running - self.done - self.dead

    @property
    def done_twice(self) -> int:
        return self.completions - self.done

    @property
    def drained(self) -> bool:
        return not self.queued and not self.running


async def count(connection: Connection, enqueued: int) -> Counts:
    """Count everything in one snapshot: a task that moves meanwhile would be counted twice or not at all."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        (queue,) = await Operations(connection).stats(QUEUE)
        row = await connection.fetchrow(ATTEMPTS)
    assert row is not None
    done, completions, failures, rescued = row
    queued = queue.ready + queue.waiting + queue.parked
    return Counts(enqueued, queued, queue.running, done, queue.dead, completions, failures, rescued)
