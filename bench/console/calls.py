"""The calls the console makes, and who makes them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

import httpx2

from penstock.accounts import Sessions
from penstock.db.tenancy import TenantPool

CALLS = (
    "/v1/overview",
    "/v1/queues",
    "/v1/queues/default?hours=1",
    "/v1/queues/default?hours=24",
    "/v1/queues/default?hours=168",
    *(
        f"/v1/tasks?state={state}"
        for state in (
            "ready",
            "running",
            "waiting",
            "parked",
            "dead",
            "completed",
            "failed",
            "cancelled",
            "lost",
        )
    ),
    "/v1/tasks?state=ready&queue=email",
    "/v1/tasks?state=ready&task_type=reports.work",
    "/v1/tasks?state=waiting&queue=default",
    "/v1/tasks?state=waiting&task_type=email.work",
    "/v1/tasks?state=parked&task_type=email.work",
    "/v1/tasks?state=dead&queue=default",
    "/v1/tasks?state=completed&queue=email",
    "/v1/tasks?state=failed&task_type=email.work",
    "/v1/task-types",
    "/v1/workers",
    "/v1/schedules",
    "/v1/failures",
    "/v1/failures?kind=document",
    "/v1/processes",
    "/v1/documents?limit=50",
    "/v1/documents?status=failed",
    "/v1/sources",
    "/v1/projects",
)
TENANT_ONLY = ("/v1/documents", "/v1/sources", "/v1/projects")


async def shown_calls(client: httpx2.AsyncClient) -> list[str]:
    """Calls about single things, which have to be found first."""
    found = []
    for state in ("ready", "waiting", "completed", "failed", "dead"):
        page = (await client.get(f"/v1/tasks?state={state}")).json()
        if page["items"]:
            found.append(f"/v1/tasks/{page['items'][-1]['task_id']}")
        if page["cursor"]:
            found.append(f"/v1/tasks?state={state}&cursor={page['cursor']}")
    groups = (await client.get("/v1/failures")).json()["items"]
    by_kind = {group["kind"]: group["group_id"] for group in groups}
    return [*found, *(f"/v1/failures/{group_id}" for group_id in by_kind.values())]


@contextlib.asynccontextmanager
async def callers(url: str, operator_url: str, key: str) -> AsyncIterator[Mapping[str, httpx2.AsyncClient]]:
    """The holder of the tenant's key, and somebody signed in to the installation."""
    async with (
        httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as tenant,
        httpx2.AsyncClient(
            base_url=url, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60
        ) as installation,
    ):
        pool = await TenantPool.open(operator_url, application_name="bench", size=1)
        try:
            link = await Sessions(pool).create_link("bench", "admin", None)
        finally:
            await pool.close()
        answer = await installation.post(f"/login/{link.token}")
        assert answer.status_code == 303, answer.text
        yield {"tenant": tenant, "installation": installation}
