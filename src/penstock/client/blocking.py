"""The same client without `await`, for scripts and notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from inspect import signature
from typing import Concatenate, ParamSpec, Self, TypeVar
from uuid import UUID

from penstock.client.client import Client

P = ParamSpec("P")
R = TypeVar("R")


def _blocking(
    method: Callable[Concatenate[Client, P], Awaitable[R]],
) -> Callable[Concatenate[BlockingClient, P], R]:
    def call(self: BlockingClient, /, *args: P.args, **kwargs: P.kwargs) -> R:
        async def run() -> R:
            return await method(self.client, *args, **kwargs)

        return self.runner.run(run())

    call.__doc__ = method.__doc__
    call.__name__ = method.__name__
    call.__module__ = method.__module__
    call.__signature__ = signature(method)  # type: ignore[attr-defined]  # what help() and editors show
    return call


class BlockingClient:
    """`with BlockingClient(url, key) as client: client.upload(Path("a.pdf"))`; not for use inside an
    event loop."""

    def __init__(self, base_url: str, api_key: str, *, attempts: int = 4, timeout: float = 60.0) -> None:
        self.runner = asyncio.Runner()
        self.client = Client(base_url, api_key, attempts=attempts, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the event loop."""
        self.runner.run(self.client.close())
        self.runner.close()

    upload = _blocking(Client.upload)
    replace = _blocking(Client.replace)
    documents = _blocking(Client.documents)
    document = _blocking(Client.document)
    wait = _blocking(Client.wait)
    chunks = _blocking(Client.chunks)
    events = _blocking(Client.events)
    explain = _blocking(Client.explain)
    retry = _blocking(Client.retry)
    retry_all = _blocking(Client.retry_all)
    reindex = _blocking(Client.reindex)
    delete = _blocking(Client.delete)
    delete_tenant = _blocking(Client.delete_tenant)
    deletion = _blocking(Client.deletion)
    sources = _blocking(Client.sources)
    source = _blocking(Client.source)
    sync_source = _blocking(Client.sync_source)
    schedule_source = _blocking(Client.schedule_source)
    pause_source = _blocking(Client.pause_source)
    resume_source = _blocking(Client.resume_source)
    connect_source = _blocking(Client.connect_source)
    remove_source = _blocking(Client.remove_source)
    skipped = _blocking(Client.skipped)
    restore = _blocking(Client.restore)
    source_rules = _blocking(Client.source_rules)
    set_source_rules = _blocking(Client.set_source_rules)
    search = _blocking(Client.search)
    projects = _blocking(Client.projects)
    project = _blocking(Client.project)
    create_project = _blocking(Client.create_project)
    set_project = _blocking(Client.set_project)
    reindex_project = _blocking(Client.reindex_project)
    estimate_reindex = _blocking(Client.estimate_reindex)

    def content(self, document_id: UUID | str) -> Iterator[bytes]:
        """The original, piece by piece."""
        pieces = self.client.content(document_id)

        async def following() -> bytes | None:
            return await anext(pieces, None)

        while (piece := self.runner.run(following())) is not None:
            yield piece
