"""The public root without `await`, for scripts and notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from penstock.engine.bound import (
    TenantClients,
    TenantDocuments,
    TenantMessages,
    TenantSources,
    TenantWebhook,
)
from penstock.engine.process_access import ProcessAccess
from penstock.engine.workspace import Workspace

if TYPE_CHECKING:
    from penstock.engine.penstock import Penstock

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


class Loop:
    """An event loop in its own thread, because a notebook already runs one in the main thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="penstock", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """The coroutine's result; if interrupted, the coroutine is cancelled and has ended first."""
        started: list[asyncio.Task[R]] = []
        ended = threading.Event()

        def start() -> None:
            started.append(self._loop.create_task(coroutine))
            started[0].add_done_callback(lambda _: ended.set())

        def cancel() -> None:
            if started:
                started[0].cancel()
            else:  # interrupted before it was handed to the loop
                coroutine.close()
                ended.set()

        try:
            self._loop.call_soon_threadsafe(start)
            ended.wait()
        except KeyboardInterrupt:
            # Its clean-up ends before the app is closed: a worker in it hands back what it holds.
            self._loop.call_soon_threadsafe(cancel)
            ended.wait()
            raise
        return started[0].result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking(Generic[T]):
    def __init__(self, target: T, loop: Loop) -> None:
        self._target = target
        self._loop = loop


def blocking(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Blocking[T], P], R]:
    """The method without `await`."""

    def call(self: Blocking[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._loop.run(method(self._target, *args, **kwargs))

    call.__doc__ = method.__doc__
    call.__name__ = method.__name__
    call.__module__ = method.__module__
    call.__signature__ = signature(method)  # type: ignore[attr-defined]  # what help() and editors show
    return call


class BlockingDocuments(Blocking[TenantDocuments]):
    list = blocking(TenantDocuments.list)
    page = blocking(TenantDocuments.page)
    text = blocking(TenantDocuments.text)
    timeline = blocking(TenantDocuments.timeline)
    show = blocking(TenantDocuments.show)
    find = blocking(TenantDocuments.find)
    events = blocking(TenantDocuments.events)
    chunks = blocking(TenantDocuments.chunks)
    explain = blocking(TenantDocuments.explain)
    wait = blocking(TenantDocuments.wait)
    retry = blocking(TenantDocuments.retry)
    reindex = blocking(TenantDocuments.reindex)
    delete = blocking(TenantDocuments.delete)


class BlockingSources(Blocking[TenantSources]):
    list = blocking(TenantSources.list)
    show = blocking(TenantSources.show)
    add = blocking(TenantSources.add)
    sync = blocking(TenantSources.sync)
    schedule = blocking(TenantSources.schedule)
    configure = blocking(TenantSources.configure)
    skipped = blocking(TenantSources.skipped)
    restore = blocking(TenantSources.restore)
    rules = blocking(TenantSources.rules)
    set_rules = blocking(TenantSources.set_rules)
    set_password = blocking(TenantSources.set_password)
    pause = blocking(TenantSources.pause)
    resume = blocking(TenantSources.resume)
    connect_url = blocking(TenantSources.connect_url)
    connect_progress = blocking(TenantSources.connect_progress)
    disconnect = blocking(TenantSources.disconnect)
    find = blocking(TenantSources.find)
    remove = blocking(TenantSources.remove)


class BlockingClients(Blocking[TenantClients]):
    list = blocking(TenantClients.list)
    find = blocking(TenantClients.find)
    show = blocking(TenantClients.show)
    join = blocking(TenantClients.join)
    split = blocking(TenantClients.split)
    add = blocking(TenantClients.add)
    change = blocking(TenantClients.change)
    remove = blocking(TenantClients.remove)


class BlockingWebhook(Blocking[TenantWebhook]):
    create = blocking(TenantWebhook.create)
    rotate = blocking(TenantWebhook.rotate)


class BlockingMessages(Blocking[TenantMessages]):
    send_email = blocking(TenantMessages.send_email)
    send_sms = blocking(TenantMessages.send_sms)
    show = blocking(TenantMessages.show)
    wait = blocking(TenantMessages.wait)


class BlockingProcesses(Blocking[ProcessAccess]):
    list = blocking(ProcessAccess.list)
    show = blocking(ProcessAccess.show)
    restart = blocking(ProcessAccess.restart)


class BlockingWorkspace(Blocking[Workspace]):
    """One tenant's documents, search, sources and messages, without `await`."""

    ingest = blocking(Workspace.ingest)
    upload = blocking(Workspace.upload)
    search = blocking(Workspace.search)

    @property
    def documents(self) -> BlockingDocuments:
        return BlockingDocuments(self._target.documents, self._loop)

    @property
    def sources(self) -> BlockingSources:
        return BlockingSources(self._target.sources, self._loop)

    @property
    def clients(self) -> BlockingClients:
        return BlockingClients(self._target.clients, self._loop)

    @property
    def webhook(self) -> BlockingWebhook:
        return BlockingWebhook(self._target.webhook, self._loop)

    @property
    def messages(self) -> BlockingMessages:
        return BlockingMessages(self._target.messages, self._loop)


class BlockingPenstock(BlockingWorkspace):
    """What `with Penstock() as app:` returns; `app.run(…)` runs anything else, such as `send.enqueue(…)`."""

    def __init__(self, app: Penstock) -> None:
        loop = Loop()
        self.app = app
        try:
            loop.run(app.open())
        except BaseException:
            loop.close()
            raise
        super().__init__(app.tenant(app.slug), loop)

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """The result of a coroutine of this app."""
        return self._loop.run(coroutine)

    @property
    def processes(self) -> BlockingProcesses:
        return BlockingProcesses(self.app.processes, self._loop)

    def tenant(self, slug: str) -> BlockingWorkspace:
        """Documents, search, sources and messages of another tenant."""
        return BlockingWorkspace(self.app.tenant(slug), self._loop)

    def close(self) -> None:
        try:
            self._loop.run(self.app.close())
        finally:
            self._loop.close()
