"""A browser of a test: signs in to a running API by a link or a key, and sends what a browser sends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from penstock.accounts import Role, Sessions
from penstock.db.tenancy import TenantPool
from tests.integration.api_server import ApiServer

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@asynccontextmanager
async def operator_sessions(server: ApiServer) -> AsyncIterator[Sessions]:
    """The calls of `penstock login`."""
    pool = await TenantPool.open(server.database.operator_url, application_name="operator", size=1)
    try:
        yield Sessions(pool)
    finally:
        await pool.close()


async def make_link(
    server: ApiServer, role: Role = "admin", tenant: str | None = None, name: str = "ada"
) -> str:
    """The path of a link that signs in."""
    async with operator_sessions(server) as sessions:
        made = await sessions.create_link(name, role, tenant)
    return f"/login/{made.token}"


@asynccontextmanager
async def browser(server: ApiServer, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Nobody is signed in yet; redirects are shown, not followed."""
    sent: dict[str, Any] = {**SAME_ORIGIN, **headers}
    async with httpx2.AsyncClient(base_url=server.url, headers=sent, timeout=30) as client:
        yield client


@asynccontextmanager
async def signed_in(
    server: ApiServer, role: Role = "admin", tenant: str | None = None, **headers: str
) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser with a session, of the installation unless a tenant is named."""
    async with browser(server, **headers) as client:
        answer = await client.post(await make_link(server, role, tenant))
        assert answer.status_code == 303, answer.text
        yield client
