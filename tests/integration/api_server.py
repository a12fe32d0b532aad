"""A running API for a test: real Postgres, real HTTP on loopback, a tenant with a key, and a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from penstock.accounts import Accounts, Scope, Tenant
from penstock.api import ConnectionLimits, create_app, listen, server
from penstock.db.tenancy import TenantPool
from penstock.engine.engine import Engine
from penstock.settings import Settings
from tests.plugins.database import Database
from tests.plugins.documents import settings_for
from tests.plugins.workers import working

if TYPE_CHECKING:
    from fastapi import FastAPI

TEXT = "The penstock lets water into the mill.\n\nIt opens at dawn and closes at dusk.\n"


@dataclass(frozen=True, slots=True)
class ApiServer:
    """The API's address, and what a test needs to look behind it."""

    url: str
    api: FastAPI
    engine: Engine
    database: Database
    blobs: Path
    tenant: Tenant
    key: str

    def client(self, key: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """Calls with a key; the tenant's own unless another is given, none for the empty one."""
        sent = self.key if key is None else key
        authorization = {"Authorization": f"Bearer {sent}"} if sent else {}
        return httpx2.AsyncClient(
            base_url=self.url, headers={**authorization, **headers}, timeout=30, verify=False
        )

    async def another_tenant(self, slug: str, **limits: Any) -> tuple[Tenant, str]:
        return await make_tenant(self.database, self.engine.settings, slug, **limits)

    async def another_key(self, *scopes: Scope) -> str:
        return (await self.engine.accounts.create_key(self.tenant.tenant_id, "other", scopes)).secret

    def blob_count(self) -> int:
        return sum(1 for path in self.blobs.rglob("*") if path.is_file())

    async def count(self, table: str) -> int:
        async with self.database.connect("admin") as admin:
            return int(await admin.fetchval(f"select count(*) from {table}"))

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """With a worker that takes documents through."""
        async with working(self.engine.tasks, self.engine.queues):
            yield


@asynccontextmanager
async def api_server(
    database: Database, folder: Path, *, providers: Any = None, **settings: Any
) -> AsyncIterator[ApiServer]:
    """`providers`: sources of the test's own, by their kind."""
    chosen = settings_for(database, folder / "data", **settings)
    async with Engine(chosen, providers=providers) as engine:
        tenant, key = await make_tenant(database, chosen, "acme")
        with listen("127.0.0.1", 0) as listening:
            api = create_app(engine)
            running = server(api, grace_seconds=2, limits=ConnectionLimits.of(chosen))
            serving = asyncio.create_task(running.serve([listening]))
            try:
                url = f"http://127.0.0.1:{listening.getsockname()[1]}"
                yield ApiServer(url, api, engine, database, folder / "data" / "blobs", tenant, key)
            finally:
                running.stop()
                await serving


async def make_tenant(
    database: Database, settings: Settings, slug: str, *, scopes: Sequence[Scope] = ("admin",), **limits: Any
) -> tuple[Tenant, str]:
    operators = await TenantPool.open(database.operator_url, application_name="operator", size=1)
    try:
        accounts = Accounts(operators, settings)
        tenant = await accounts.create_tenant(slug, **limits)
        key = await accounts.create_key(tenant.tenant_id, "test", scopes)
        return tenant, key.secret
    finally:
        await operators.close()


def form(content: bytes | str = TEXT, name: str = "mill.txt", kind: str = "text/plain") -> dict[str, Any]:
    """The file of a form, as httpx takes it."""
    return {"file": (name, content if isinstance(content, bytes) else content.encode(), kind)}


def assert_problem(answer: httpx2.Response, status: int, field: str | None = None) -> dict[str, Any]:
    """The answer is a problem of this status about this field."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem.get("field") == field, problem
    return problem
