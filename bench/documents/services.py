"""The API and a worker as processes of their own, as `penstock up` runs them."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2

from bench.documents.environment import running
from bench.documents.place import Place
from bench.documents.running_engine import admin, make_tenant, settled
from bench.documents.sample_files import SampleFile
from bench.environment import Child
from penstock.db import Connection
from penstock.queue.operations import Operations

QUEUE = "ingest-document"
START_SECONDS = 60.0
BOUNDARY = "penstock-bench"


@dataclasses.dataclass(frozen=True, slots=True)
class Services:
    client: httpx2.AsyncClient
    worker: Child
    admin: Connection

    async def post(self, body: bytes) -> None:
        """One upload; anything but 202 is an error."""
        answer = await self.client.post("/v1/documents/upload", content=body)
        if answer.status_code != 202:
            raise RuntimeError(f"an upload was answered {answer.status_code}: {answer.text}")

    async def pause(self) -> None:
        await Operations(self.admin).pause(QUEUE)


@contextlib.asynccontextmanager
async def services(
    place: Place, embedder: str, warm: SampleFile, *, seconds: float = 60.0
) -> AsyncIterator[Services]:
    """Both up, and the worker warm: a document went through."""
    settings = place.settings(embedder=embedder)
    _, key = await make_tenant(place, settings)
    variables = place.variables(PENSTOCK_EMBEDDER=embedder)
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
    }

    def start(*words: str) -> contextlib.AbstractAsyncContextManager[Child]:
        command = (sys.executable, "-m", "penstock", *words)
        return running(words[0], command, START_SECONDS, cwd=Path(place.folder), variables=variables)

    async with (
        start("api", "--port", "0", "--json") as api,
        start("worker") as worker,
        admin(place) as connection,
        httpx2.AsyncClient(
            base_url=await _url(api),
            headers=headers,
            timeout=seconds,
            limits=httpx2.Limits(max_connections=200, max_keepalive_connections=200),
        ) as client,
    ):
        here = Services(client, worker, connection)
        await here.post(form(warm))
        await settled(connection)
        yield here


def form(file: SampleFile) -> bytes:
    """An upload's body, made before the clock starts."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{file.filename}"\r\n'
        f"Content-Type: {file.mime_type}\r\n\r\n"
    )
    return head.encode() + file.content + f"\r\n--{BOUNDARY}--\r\n".encode()


async def _url(api: Child) -> str:
    assert api.process.stdout
    async with asyncio.timeout(api.timeout):
        line = await api.process.stdout.readline()
    if not line:
        raise RuntimeError(f"the API did not start: {api.said()}")
    return str(json.loads(line)["url"])
