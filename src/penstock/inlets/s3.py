"""An inlet that reads buckets' events from SQS: S3 sources that read the object look at it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from penstock.db.reconnecting import ReconnectingConnection
from penstock.inlets.protocol import Incoming, InletRow
from penstock.inlets.register import Surroundings
from penstock.inlets.s3_events import EventRefused, ObjectEvent, events_of
from penstock.inlets.sqs import SqsInlet, SqsMessage, opened, refused_message
from penstock.inlets.sqs_queue import queue_of
from penstock.model.queue_names import READ
from penstock.model.s3_objects import STREAM
from penstock.observe import get_logger

log = get_logger(__name__)

UNREAD: Final = "no S3 source reads its bucket; add one: penstock source add s3 BUCKET/PREFIX"
MOST_AT_ONCE: Final = 500
"""Events per call that asks for their sources."""
ROUTE: Final = "select position, tenant, source_id from all_tenants.sources_of_objects($1, $2, $3, $4)"


class EventDecoder:
    """Finds the sources; an event of a bucket that nobody reads is refused, and never makes a tenant."""

    def __init__(self, line: ReconnectingConnection, tenant: str | None) -> None:
        self._line = line
        self._tenant = tenant

    async def __call__(self, messages: Sequence[SqsMessage]) -> Sequence[Sequence[Incoming]]:
        read: list[Sequence[ObjectEvent] | str] = []
        for message in messages:
            try:
                read.append(events_of(message.body))
            except EventRefused as refused:
                read.append(str(refused))
        events = [event for found in read if not isinstance(found, str) for event in found]
        routes = iter(await self._routes(events))
        decoded = []
        for message, found in zip(messages, read, strict=True):
            if isinstance(found, str):
                decoded.append([refused_message(message, found)])
            else:
                decoded.append(_looks(message, [(event, next(routes)) for event in found]))
        return decoded

    async def aclose(self) -> None:
        await self._line.close()

    async def _routes(self, events: Sequence[ObjectEvent]) -> list[list[tuple[str, str]] | None]:
        """Tenant and source of each that has not seen it yet; None if nobody reads the bucket."""
        found: list[list[tuple[str, str]] | None] = []
        for start in range(0, len(events), MOST_AT_ONCE):
            found += await self._routes_of_few(events[start : start + MOST_AT_ONCE])
        return found

    async def _routes_of_few(self, events: Sequence[ObjectEvent]) -> list[list[tuple[str, str]] | None]:
        rows = await self._line.fetch(
            ROUTE,
            [each.bucket for each in events],
            [each.key for each in events],
            self._tenant,
            [each.sequencer for each in events],
        )
        found: list[list[tuple[str, str]] | None] = [None] * len(events)
        for row in rows:
            sources = found[row["position"] - 1] or []
            if row["source_id"] is not None:
                sources.append((row["tenant"], str(row["source_id"])))
            found[row["position"] - 1] = sources
        return found


def _looks(
    message: SqsMessage, routed: Sequence[tuple[ObjectEvent, list[tuple[str, str]] | None]]
) -> list[Incoming]:
    """One task for each source and object. A part that is refused keeps the message in its queue."""
    parts: list[Incoming] = []
    for number, (event, sources) in enumerate(routed):
        if sources is None:
            log.warning("inlet_bucket_unknown", bucket=event.bucket[:100])
            parts.append(refused_message(message, UNREAD))
            continue
        identity = event.identity or f"{message.message_id}#{number}"
        for tenant, source_id in sources:
            payload = {
                "source_id": source_id,
                "stream": STREAM,
                "item": event.key,
                "sequencer": event.sequencer,
            }
            parts.append(
                Incoming(
                    key=f"{source_id} {identity}",
                    payload=json.dumps(payload),
                    receipt=message.delivery,
                    task_type=READ,
                    received=message.received,
                    sent_at=message.sent_at,
                    tenant=tenant,
                    unique_key=f"{source_id}/{STREAM}/{event.key}",
                    on_duplicate="coalesce",
                )
            )
    return parts


async def open_inlet(row: InletRow, surroundings: Surroundings) -> SqsInlet:
    """`config` as for sqs. An inlet with a tenant asks that tenant's sources only."""
    queue = queue_of(surroundings.settings, row.config)
    line = ReconnectingConnection(
        surroundings.runtime_url,
        application_name="penstock inlet",
        statement_cache=surroundings.settings.statement_cache,
    )
    return await opened(row, surroundings, queue, EventDecoder(line, row.tenant))
