"""A process of the test's own: handlers that answer as the payload tells them, and a provider likewise."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from penstock import Context, Penstock, Table
from penstock.db.tenancy import TenantPool
from penstock.processes.channel_handler import ChannelHandler
from penstock.processes.db_function import DbFunction
from penstock.queue.task_run import TaskRun
from penstock.queue.task_type import TaskType
from tests.plugins.workers import Books, Mill, working

# A sequence counts calls although the transaction that made them is undone.
SCHEMA = """
create schema trial authorization penstock_owner;
create table trial.fact (fact_id bigint generated always as identity, part text, told jsonb);
create sequence trial.success_calls;
create sequence trial.error_calls;
create function trial.answer(_asked jsonb, _calls bigint) returns jsonb language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if _asked ? 'raise' and _calls <= coalesce((_asked ->> 'times')::bigint, 1000) then
    raise exception 'told to raise: %', _asked ->> 'raise';
  end if;
  if _asked ? 'cut' and _calls <= (_asked ->> 'cut')::bigint then
    perform pg_terminate_backend(pg_backend_pid());
  end if;
  return case when _asked ? 'answer' then _asked -> 'answer'
    else '{"status": "succeeded", "payload": {"n": 1}}' end;
end $$;
"""
FUNCTION = """
create function trial.{part}(_payload jsonb) returns jsonb language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  insert into trial.fact (part, told) values ('{part}', _payload);
  return trial.answer({asked}, {calls});
end $$;
"""
REGISTER = """
select internal.register_process('trial.trial', 'email', '{
  "supervisor": "trial.perform", "before_handler": "trial.before",
  "success_handler": "trial.success", "error_handler": "trial.error"}')
"""
HANDLERS = {"success_handler": "trial.success", "error_handler": "trial.error"}


class TrialProvider:
    """A channel that keeps what it was asked and does as told."""

    def __init__(self) -> None:
        self.requests: list[Mapping[str, Any]] = []
        self.does: Callable[[], Awaitable[Mapping[str, Any]]] = _well

    async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
        self.requests.append(request)
        return await self.does()


async def _well() -> Mapping[str, Any]:
    return {"id": "p-1"}


class Trial:
    """The process on a worker: `email` tasks go to the provider, `db_function` tasks to the database."""

    def __init__(self, books: Books, provider: TrialProvider, types: dict[str, TaskType[Any]]) -> None:
        self.books = books
        self.provider = provider
        self._types = types
        self.tenant_id = uuid4()

    async def attempt(self, **payload: Any) -> int:
        """An attempt by the provider; keywords add to its payload, None takes a key away."""
        whole = {"task_type": "email", "before_handler": "trial.before", **HANDLERS, **payload}
        return await self._enqueue("email", whole)

    async def perform(self, **payload: Any) -> int:
        """A function of the database."""
        return await self._enqueue("db_function", {"db_function": "trial.perform", **payload})

    async def _enqueue(self, name: str, payload: dict[str, Any]) -> int:
        kept = {key: value for key, value in payload.items() if value is not None}
        return await self._types[name].enqueue(kept, tenant_id=self.tenant_id)

    async def facts(self, part: str) -> list[dict[str, Any]]:
        """What a handler was told, of the calls that count."""
        rows = await self.books.admin.fetch(
            "select told from trial.fact where part = $1 order by fact_id", part
        )
        return [json.loads(row["told"]) for row in rows]


@asynccontextmanager
async def trial_process(mill: Mill) -> AsyncIterator[Trial]:
    app, provider = mill.app(), TrialProvider()
    tenants = await TenantPool.open(mill.database.runtime_url, application_name="channel_handler", size=4)
    channel_handler, db_function = ChannelHandler(tenants, provider), DbFunction(tenants)
    types = _declare(app, channel_handler, db_function)
    try:
        async with mill.open(app) as books:
            await books.admin.execute(SCHEMA)
            for part, key, calls in (
                ("before", "_payload -> 'before'", "1"),
                ("success", "_payload -> 'original_payload' -> 'success'", "nextval('trial.success_calls')"),
                ("error", "_payload -> 'original_payload' -> 'error'", "nextval('trial.error_calls')"),
                ("perform", "_payload -> 'perform'", "1"),
            ):
                asked = f"coalesce({key}, '{{}}')"
                await books.admin.execute(FUNCTION.format(part=part, asked=asked, calls=calls))
            await books.admin.execute(REGISTER)
            async with working(app):
                yield Trial(books, provider, types)
    finally:
        await tenants.close()


def _declare(
    app: Penstock, channel_handler: ChannelHandler, db_function: DbFunction
) -> dict[str, TaskType[Any]]:
    @app.task("email", queue="email", max_attempts=3, retry=Table((0, 0, 0)))
    async def email(payload: dict[str, Any], ctx: Context) -> None:
        await channel_handler(payload, ctx)

    @app.task("db_function", queue="processes", max_attempts=3, retry=Table((0, 0, 0)))
    async def function(payload: dict[str, Any], ctx: Context) -> None:
        await db_function(payload, ctx)

    return {"email": email, "db_function": function}
