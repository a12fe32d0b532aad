"""Simulators, the API and a worker as processes of their own, and a connected mailbox."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2

from bench.documents.environment import running
from bench.documents.place import Place
from bench.documents.running_engine import admin, make_tenant
from bench.environment import ROOT, Child
from penstock.db import Connection

START_SECONDS = 120.0
LOOK_SECONDS = 0.01
QUIET = """
select exists (select from ingest.subscription where ended_at is null and created_at is not null)
  and exists (select from ingest.source where synced_at is not null)
  and not exists (select from ingest.pending_sync)
"""


class NotInTime(Exception):
    """What a figure needs did not happen."""


@dataclasses.dataclass(frozen=True, slots=True)
class MailServices:
    client: httpx2.AsyncClient
    simulators: httpx2.AsyncClient
    worker: Child
    admin: Connection

    async def deliver(self, **mail: Any) -> None:
        """A mail arrives in the mailbox."""
        answer = await self.simulators.post("/_control/mails", json={"provider": "outlook", **mail})
        answer.raise_for_status()

    async def hits(self, question: str) -> list[str]:
        """The names of the files that a search finds."""
        answer = await self.client.get("/v1/search", params={"q": question, "limit": 5})
        answer.raise_for_status()
        return [hit["filename"] for hit in answer.json()["hits"]]


@contextlib.asynccontextmanager
async def mail_services(place: Place, **variables: str) -> AsyncIterator[MailServices]:
    """All up; the mailbox is connected, subscribed and synced."""
    _, key = await make_tenant(place, place.settings())
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    simulating = (sys.executable, "-m", "bench.mailbox.providers")
    async with running("simulators", simulating, START_SECONDS, cwd=ROOT) as simulators:
        told = await _first_line(simulators)
        chosen = place.variables(**told["environment"], PENSTOCK_PUBLIC_URL=url, **variables)

        def start(*words: str) -> contextlib.AbstractAsyncContextManager[Child]:
            command = (sys.executable, "-m", "penstock", *words)
            return running(words[0], command, START_SECONDS, cwd=Path(place.folder), variables=chosen)

        async with (
            start("api", "--port", str(port), "--json") as api,
            start("worker") as worker,
            admin(place) as connection,
            httpx2.AsyncClient(
                base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60
            ) as client,
            httpx2.AsyncClient(base_url=told["url"], timeout=60) as control,
        ):
            await _first_line(api)
            here = MailServices(client, control, worker, connection)
            await _connect(client)
            await until(lambda: connection.fetchval(QUIET), START_SECONDS, "connected and synced")
            yield here


async def _connect(client: httpx2.AsyncClient) -> None:
    """As a user does, at a provider that asks nothing."""
    asked = await client.get("/v1/sources/outlook/connect", headers={"Accept": "application/json"})
    asked.raise_for_status()
    async with httpx2.AsyncClient(follow_redirects=True, timeout=60) as browser:
        (await browser.get(asked.json()["url"])).raise_for_status()


async def until(condition: Callable[[], Coroutine[Any, Any, object]], seconds: float, what: str) -> None:
    """Wait until the condition is true."""
    try:
        async with asyncio.timeout(seconds):
            while not await condition():  # noqa: ASYNC110  # it is a row in the database, or a response
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        raise NotInTime(f"not within {seconds:g} s: {what}") from None


async def _first_line(child: Child) -> dict[str, Any]:
    assert child.process.stdout
    async with asyncio.timeout(child.timeout):
        line = await child.process.stdout.readline()
    if not line:
        raise RuntimeError(f"{child.label} did not start: {child.said()}")
    told: dict[str, Any] = json.loads(line)
    return told


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
