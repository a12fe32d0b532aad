"""Services of the engine bound to a tenant, opened on first use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from penstock.documents.documents import Documents
from penstock.model import TenantId
from penstock.processes.messages import Messages
from penstock.sources.clients.clients import Clients
from penstock.sources.sources import Sources
from penstock.sources.webhook.webhook_source import WebhookSources

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


class Bound(Generic[S]):
    """`resolve` opens the engine and returns the tenant."""

    def __init__(self, resolve: Callable[[], Awaitable[tuple[S, TenantId]]]) -> None:
        self._resolve = resolve


def bound(
    method: Callable[Concatenate[S, TenantId, P], Awaitable[R]],
) -> Callable[Concatenate[Bound[S], P], Coroutine[Any, Any, R]]:
    """A service's method without its tenant argument."""

    async def call(self: Bound[S], /, *args: P.args, **kwargs: P.kwargs) -> R:
        service, tenant_id = await self._resolve()
        return await method(service, tenant_id, *args, **kwargs)

    call.__doc__ = method.__doc__
    call.__name__ = method.__name__
    call.__module__ = method.__module__
    whole = signature(method)
    itself, _, *others = whole.parameters.values()
    # What help() and editors show.
    call.__signature__ = whole.replace(parameters=[itself, *others])  # type: ignore[attr-defined]
    return call


class TenantDocuments(Bound[Documents]):
    """A tenant's documents: list and show them, process them again, delete them."""

    list = bound(Documents.list)
    page = bound(Documents.page)
    text = bound(Documents.text)
    timeline = bound(Documents.timeline)
    show = bound(Documents.show)
    find = bound(Documents.find)
    events = bound(Documents.events)
    chunks = bound(Documents.chunks)
    content = bound(Documents.content)
    explain = bound(Documents.explain)
    wait = bound(Documents.wait)
    retry = bound(Documents.retry)
    reindex = bound(Documents.reindex)
    delete = bound(Documents.delete)


class TenantSources(Bound[Sources]):
    """Where a tenant's documents come from."""

    list = bound(Sources.list)
    show = bound(Sources.show)
    add = bound(Sources.add)
    sync = bound(Sources.sync)
    schedule = bound(Sources.schedule)
    configure = bound(Sources.configure)
    skipped = bound(Sources.skipped)
    restore = bound(Sources.restore)
    rules = bound(Sources.rules)
    set_rules = bound(Sources.set_rules)
    set_password = bound(Sources.set_password)
    pause = bound(Sources.pause)
    resume = bound(Sources.resume)
    connect_url = bound(Sources.connect_url)
    connect_progress = bound(Sources.connect_progress)
    disconnect = bound(Sources.disconnect)
    find = bound(Sources.find)
    remove = bound(Sources.remove)


class TenantClients(Bound[Clients]):
    """A tenant's clients, with the facts that sources state about them."""

    list = bound(Clients.list)
    find = bound(Clients.find)
    show = bound(Clients.show)
    join = bound(Clients.join)
    split = bound(Clients.split)
    add = bound(Clients.add)
    change = bound(Clients.change)
    remove = bound(Clients.remove)


class TenantWebhook(Bound[WebhookSources]):
    """The webhook to which others send signed documents."""

    create = bound(WebhookSources.create)
    rotate = bound(WebhookSources.renew)


class TenantMessages(Bound[Messages]):
    """Emails and text messages, each sent by a supervised process."""

    send_email = bound(Messages.send_email)
    send_sms = bound(Messages.send_sms)
    show = bound(Messages.show)
    wait = bound(Messages.wait)
