"""A child process that measures: a whole sync of HubSpot, or the bare loop over the same pages."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import uvloop
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.documents.load import Cpu, cpu
from bench.documents.place import Place
from bench.documents.running_engine import admin, make_tenant
from bench.job import Figures
from bench.sources.fixture_embedders import FixtureEmbedders
from penstock.db import Connection
from penstock.engine.engine import Engine
from penstock.model import SourceId, TenantId

PAGE = 100
PROPERTIES = (
    "firstname", "lastname", "email", "company", "jobtitle", "lifecyclestage", "lastmodifieddate"
)  # fmt: skip
TABLE = (
    "create table bench_item (id text primary key, payload jsonb not null, updated_at timestamptz not null)"
)
UPSERT = """
insert into bench_item (id, payload, updated_at)
select g.id, g.payload::jsonb, now() from unnest($1::text[], $2::text[]) as g (id, payload)
on conflict (id) do update set payload = excluded.payload, updated_at = excluded.updated_at
"""
OPEN = """
select exists (select from ingest.ingestion_job where finished_at is null)
  or exists (select from ingest.pending_sync)
"""
LAST = "select * from ingest.ingestion_job order by job_id desc limit 1"


class SyncFailed(Exception):
    """A figure of a sync that did not end well would say nothing."""


async def bare(place: Place, told: dict[str, Any]) -> Figures:
    """Read pages over MCP and upsert them: no documents, no index, no cursor, no clients."""
    async with admin(place) as connection:
        await connection.execute(TABLE)
        before = cpu(place)
        started = perf_counter()
        items = await _read_pages(connection, told)
        seconds = perf_counter() - started
        spent = _spent("", cpu(place).since(before))
    names = ("texts", "again_rate", "again_texts", "faster", "again_own_cpu", "again_server_cpu")
    nothing = dict.fromkeys(names, 0)
    return {
        "rate": items / seconds,
        "seconds": seconds,
        "items": items,
        "peak_mib": _peak(),
        **spent,
        **nothing,
    }


async def _read_pages(connection: Connection, told: dict[str, Any]) -> int:
    headers = {"Authorization": f"Bearer {told['access']}"}
    items = 0
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(told["settings"]["hubspot_mcp_url"], http_client=http)
        async with Client(transport) as client:
            for kind in ("companies", "contacts"):
                offset = 0
                while True:
                    answer = await client.call_tool(
                        "search_crm_objects",
                        {"objectType": kind, "limit": PAGE, "offset": offset, "properties": list(PROPERTIES)},
                    )
                    page = answer.structured_content or json.loads(getattr(answer.content[0], "text", "{}"))
                    rows = page["results"]
                    await connection.execute(
                        UPSERT, [f"{kind}/{row['id']}" for row in rows], [json.dumps(row) for row in rows]
                    )
                    items += len(rows)
                    offset += len(rows)
                    if not rows or offset >= page["total"]:
                        break
    return items


async def sync(place: Place, told: dict[str, Any]) -> Figures:
    """The whole path: documents, chunks, vectors, facts, clients; then everything again, unchanged."""
    engine = Engine(place.settings(**told["settings"]))
    async with engine, admin(place) as connection:
        tenant_id, _ = await make_tenant(place, engine.settings)
        embedders = FixtureEmbedders()
        engine.embedders = embedders
        worker = engine.tasks.worker(engine.queues)
        await worker.start()
        try:
            started = perf_counter()
            before = cpu(place)
            source_id = await _connect(engine, tenant_id)
            first = await _ended(connection, started)
            texts = embedders.asked.texts
            between = cpu(place)
            started = perf_counter()
            await engine.sources.sync(tenant_id, source_id, full=True)
            again = await _ended(connection, started)
            after = cpu(place)
        finally:
            await worker.stop()
        documents = await connection.fetchval("select count(*) from ingest.document where status = 'indexed'")
        clients = await connection.fetchval("select count(*) from ingest.client_intelligence")
    return {
        "rate": first["items_seen"] / first["seconds"],
        "seconds": first["seconds"],
        "items": first["items_seen"],
        "documents": documents,
        "clients": clients,
        "texts": texts,
        "again_rate": again["items_seen"] / again["seconds"],
        "again_texts": embedders.asked.texts - texts,
        "again_written": again["items_written"],
        "faster": first["seconds"] / again["seconds"],
        "peak_mib": _peak(),
        **_spent("", between.since(before)),
        **_spent("again_", after.since(between)),
    }


async def _connect(engine: Engine, tenant_id: TenantId) -> SourceId:
    """As a user does, at a provider that asks nothing; this starts the first sync."""
    asked = await engine.connecting.begin(tenant_id, "hubspot")
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(asked.url)
    back = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
    return (await engine.connecting.finish(back)).source_id


async def _ended(connection: Connection, started: float) -> dict[str, Any]:
    while await connection.fetchval(OPEN):  # noqa: ASYNC110  # the end is a row in the database
        await asyncio.sleep(0.02)
    seconds = perf_counter() - started
    row = dict(await connection.fetchrow(LAST) or {})
    if row["status"] != "completed" or row["items_failed"]:
        raise SyncFailed(f"{row['status']}: {row['error_message']}, {row['error_details']}")
    return row | {"seconds": seconds}


def _spent(name: str, spent: Cpu) -> Figures:
    return {f"{name}own_cpu": spent.own + spent.children, f"{name}server_cpu": spent.server}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(role: str, text: str) -> None:
    job = json.loads(text)
    run = {"bare": bare, "sync": sync}[role]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(run(Place(**job["place"]), job["told"]))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
