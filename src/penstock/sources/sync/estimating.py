"""Estimates what a first sync will embed, from the first page of each stream, before anything is embedded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from penstock.embed.cached import OverBudget
from penstock.embed.price import cost_of
from penstock.embed.tokens import counter
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderUnavailable
from penstock.model import TenantId
from penstock.observe import get_logger
from penstock.sources.mapping.mapped import MapFailed
from penstock.sources.protocol import Checkpoint, Cursor, Item

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from penstock.db.tenancy import TenantPool
    from penstock.embed.embedders import Embedders
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.protocol import Reader, SyncEvent
    from penstock.sources.sync.job import SyncJob

log = get_logger(__name__)

NOTE = "select ingest.note_estimate($1, $2, $3)"
COUNTED_CHARACTERS = 10_000
"""The tokens of a longer text are not counted but taken from its length."""
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class SyncEstimate:
    """`texts` of records with their `tokens`, and `files`, whose text is not known before they are read.

    `cost` is that of the tokens, if there is a price. `is_at_least`: a stream did not say how much it has.
    """

    items: int = 0
    texts: int = 0
    tokens: int = 0
    files: int = 0
    cost: float | None = None
    is_at_least: bool = False


class FirstSyncEstimate:
    """Shared by all syncs of a worker; `price` is per million tokens."""

    def __init__(self, tenants: TenantPool, embeds: Embedders, price: float | None) -> None:
        self._tenants = tenants
        self._embeds = embeds
        self._price = price

    async def check(
        self, tenant_id: TenantId, job: SyncJob, reader: Reader, maps: Mapping[str, FieldMap]
    ) -> None:
        """Note the estimate where embedding costs money or is limited; OverBudget if that is too little."""
        try:
            embedder = await self._embeds.embedder(job.embedder)
        except (EmbedderBusy, EmbedderFailed, EmbedderUnavailable) as missing:
            log.info("sync_not_estimated", reason=missing.message)
            return
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            left: int | None = await conn.fetchval("select accounts.budget_left()")
        if left is None and not embedder.is_remote:
            return
        tokens = job.estimated_tokens
        if tokens is None:
            found = await estimate(reader, maps, counter(embedder.tokenizer).count, self._price)
            async with self._tenants.transaction(tenant_id) as conn:
                await conn.execute(NOTE, job.job_id, job.run, json.dumps(asdict(found)))
            tokens = found.tokens
        if left is not None and tokens > left:
            raise OverBudget(tokens, left)


async def estimate(
    reader: Reader, maps: Mapping[str, FieldMap], count: Callable[[str], int], price: float | None
) -> SyncEstimate:
    """Read one page of each stream and take it for the rest."""
    totals = dict.fromkeys(("items", "texts", "tokens", "files"), 0.0)
    is_at_least = False
    for stream in reader.streams:
        page, expected = await _first_page(reader, stream, maps, count)
        seen = page["items"]
        is_at_least |= expected is None
        factor = max(1.0, (expected or seen) / seen) if seen else 1.0
        for name, value in page.items():
            totals[name] += value * factor
    whole: dict[str, Any] = {name: round(value) for name, value in totals.items()}
    return SyncEstimate(**whole, cost=cost_of(whole["tokens"], price), is_at_least=is_at_least)


async def _first_page(
    reader: Reader, stream: str, maps: Mapping[str, FieldMap], count: Callable[[str], int]
) -> tuple[dict[str, int], int | None]:
    """Its counts, and how many items the stream has; None if it does not say."""
    page = {"items": 0, "texts": 0, "tokens": 0, "files": 0}
    events = cast("AsyncGenerator[SyncEvent]", reader.read(stream, Cursor(None, is_full=True, is_first=True)))
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Checkpoint):
                return page, page["items"] if event.done else event.expected
            if not isinstance(event, Item):
                continue
            page["items"] += 1
            if event.content is not None:
                page["files"] += 1
            elif text := _text(event, f"{stream}/{event.id}", maps):
                page["texts"] += 1
                page["tokens"] += (
                    count(text) if len(text) <= COUNTED_CHARACTERS else len(text) // CHARACTERS_PER_TOKEN
                )
    return page, None


def _text(item: Item, external_id: str, maps: Mapping[str, FieldMap]) -> str | None:
    field_map = maps.get(item.document_type)
    try:
        return None if field_map is None else field_map.apply(external_id, item.payload).text
    except MapFailed:
        return None
