"""The calls the console makes, and who makes them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import get_args

import httpx2

from penstock.accounts import Sessions
from penstock.db.tenancy import TenantPool
from penstock.documents.bulk_operations import SHARED
from penstock.documents.filters import DocumentOrder

NOWHERE = "00000000-0000-7000-8000-000000000000"
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
    "/v1/processes?sort=created",
    "/v1/processes?state=failed",
    "/v1/documents?limit=50",
    "/v1/documents?status=failed",
    "/v1/documents?count=1",
    "/v1/documents?status=failed&count=1",
    "/v1/documents?status=indexed&count=1",
    *(f"/v1/documents?sort={order}&count=1" for order in get_args(DocumentOrder)),
    "/v1/documents?mime_type=application/pdf&count=1",
    "/v1/documents?reason=malformed&count=1",
    f"/v1/documents?source_id={NOWHERE}&count=1",
    "/v1/documents?q=number+77&count=1",
    "/v1/documents?q=nothing+has+this&count=1",
    "/v1/documents/counts",
    "/v1/documents/counts?mime_type=application/pdf",
    "/v1/documents/counts?q=number+77",
    "/v1/search?q=report+number",
    "/v1/sources",
    "/v1/projects",
    "/v1/clients",
    "/v1/clients?query=number+77",
    "/v1/clients?sort=-updated",
    "/v1/decisions",
    "/v1/decisions?reason=calendar",
    "/v1/operations",
    "/v1/operations?state=running,watching",
    "/v1/audit",
    "/v1/audit?who=nobody",
    "/v1/keys",
    "/v1/sessions",
    "/v1/session",
    "/v1/views",
    "/v1/tenants",
    "/v1/inlets",
    "/v1/reindexes",
)
PREVIEWS: tuple[tuple[str, dict[str, str]], ...] = (
    ("tasks.cancel", {}),
    ("tasks.cancel", {"state": "ready"}),
    ("tasks.cancel", {"state": "waiting", "queue": "default"}),
    ("tasks.cancel", {"task_type": "email.work"}),
    ("tasks.cancel", {"task_type": "rare.work"}),
    ("tasks.run_now", {"state": "waiting"}),
    ("dead.replay", {}),
    ("dead.replay", {"task_type": "email.work"}),
    ("dead.purge", {"reason": "exhausted"}),
    ("documents.retry", {"status": "failed"}),
    ("documents.delete", {}),
    ("documents.reindex", {"q": "number 77"}),
    ("decisions.restore", {}),
    ("sources.sync", {}),
    ("clients.delete", {}),
    ("processes.retry", {}),
    ("keys.revoke", {}),
    ("sessions.end", {}),
    ("queues.pause", {}),
    ("workers.stop", {}),
    ("schedules.run", {}),
)
"""What is counted before somebody acts on all that match."""
TENANT_ONLY = (
    "/v1/documents",
    "/v1/search",
    "/v1/sources",
    "/v1/projects",
    "/v1/clients",
    "/v1/decisions",
    "/v1/decisions?reason=calendar",
    "/v1/keys",
    "/v1/reindexes",
)
TENANT_PREVIEWS = ("documents.", "decisions.", "sources.", "clients.", "keys.")
INSTALLATION_ONLY = ("/v1/tenants",)


def is_for(who: str, path: str) -> bool:
    """Whether this caller may make the call: the installation names no tenant here."""
    return not path.startswith(TENANT_ONLY if who == "installation" else INSTALLATION_ONLY)


def previews_of(who: str) -> list[tuple[str, dict[str, str]]]:
    """The previews that this caller may ask for."""
    return [
        (action, chosen)
        for action, chosen in PREVIEWS
        if not action.startswith(TENANT_PREVIEWS if who == "installation" else SHARED)
    ]


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
    found += [f"/v1/failures/{group_id}" for group_id in by_kind.values()]
    for status in ("indexed", "failed"):
        page = await client.get(f"/v1/documents?status={status}&limit=1")
        for document in page.json()["items"] if page.status_code == 200 else ():
            one = f"/v1/documents/{document['document_id']}"
            parts = ("timeline", "chunks", "text", "events", "explain", "ingestions")
            found += [one, *(f"{one}/{part}" for part in parts)]
    of_a_list: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("sources", "source_id", ("", "/decisions")),
        ("clients", "client_id", ("",)),
        ("operations", "operation_id", ("", "/items")),
    )
    for path, key, below in of_a_list:
        page = await client.get(f"/v1/{path}?limit=1")
        for row in page.json()["items"] if page.status_code == 200 else ():
            found += [f"/v1/{path}/{row[key]}{part}" for part in below]
    return found


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
