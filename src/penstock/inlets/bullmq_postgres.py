"""BullMQ 6 on Postgres, in our own database: one transaction claims, takes in and completes jobs."""

from __future__ import annotations

import json

from penstock.inlets.own_database import OwnDatabaseInlet, Statements
from penstock.inlets.protocol import InletRow
from penstock.inlets.register import Surroundings

TAKE = """
  select
    count(*)::integer as received,
    (count(*) filter (where t.outcome = 'taken'))::integer as taken,
    (count(*) filter (where t.outcome = 'duplicate'))::integer as duplicates,
    (count(*) filter (where t.outcome = 'refused'))::integer as refused,
    greatest(0, extract(epoch from clock_timestamp() - min(t.sent_at)))::float8 as lag_seconds,
    sum(t.bytes)::bigint as bytes
  from queues.take_from_bullmq(
    $1, $3, $4::jsonb, $2, $5, $6, coalesce($7::integer[], '{1,2,3,4,5,6,7,8,9}')) t
"""
WAITING = "select queues.bullmq_waiting($1, $2)"
LARGEST = 200
"""BullMQ's functions claim and close jobs one by one, so that larger batches gain nothing."""


async def open_inlet(row: InletRow, surroundings: Surroundings) -> OwnDatabaseInlet:
    """Opened at its first move; the privileges were granted when it was added."""
    config = row.config
    queue, schema = config["queue"], config["schema"]
    arguments = (
        queue,
        json.dumps(dict(config["jobs"])),
        schema,
        config.get("tenant_key"),
        config.get("levels"),
    )
    return OwnDatabaseInlet(
        row, surroundings, Statements(TAKE, WAITING, arguments, counted=(queue, schema)), LARGEST
    )
