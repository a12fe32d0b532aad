"""Assembles the API: routes, error responses, middleware, and the description at /openapi.json."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from penstock.api import (
    account,
    audit,
    clients,
    connect_pages,
    console_pages,
    decisions,
    deletion,
    docs_page,
    document_counts,
    document_pages,
    documents,
    embedding,
    events,
    failures,
    gates,
    health,
    ingestions,
    inlets,
    installation_keys,
    login_pages,
    mail_webhooks,
    operations,
    overview,
    processes,
    projects,
    queues,
    reindexes,
    retrying,
    schedules,
    searching,
    server_pages,
    session,
    source_connections,
    source_kinds,
    source_passwords,
    source_syncing,
    sources,
    task_types,
    tasks,
    tenants,
    uploads,
    views,
    webhook_intake,
    workers,
)
from penstock.api.console_auth import assert_loopback
from penstock.api.drain_connections import DrainConnections
from penstock.api.envelope import EnvelopeMiddleware
from penstock.api.host_check import HostCheck
from penstock.api.identity import COOKIE, admit
from penstock.api.live import LiveChanges
from penstock.api.notification_counts import NotificationCounts
from penstock.api.prefix import PathPrefix
from penstock.api.problem import KINDS, MEDIA_TYPE, Problem, answer
from penstock.api.rate_limit import RateLimit
from penstock.api.refusals import refusal_of
from penstock.api.request_counts import RequestCounts
from penstock.api.secret_guesses import SecretGuesses
from penstock.blobs.spool import SpoolBudget
from penstock.console.bundle import Bundle
from penstock.engine.engine import Engine
from penstock.errors import PenstockError
from penstock.mcp import http_app
from penstock.observe import Metrics

_DESCRIPTION: Final = (
    "Upload documents and search them. Send your key as Authorization: Bearer pk_…, or as "
    "X-API-Key. POST and PUT accept an Idempotency-Key: a repeated request is carried out "
    "only once."
)
_TAGS: Final = [
    {"name": "Documents", "description": "Upload, follow, download and delete documents."},
    {
        "name": "Operations",
        "description": "Act on everything that matches a filter, in the background; saved views.",
    },
    {"name": "Search", "description": "Find passages by meaning and by words."},
    {"name": "Projects", "description": "Collections of documents with their own settings."},
    {
        "name": "Sources",
        "description": "Where documents come from: connected accounts, folders, the webhook.",
    },
    {"name": "Clients", "description": "What sources state about each client."},
    {
        "name": "Queues",
        "description": "Queues, tasks, workers, failures and processes, for those who run it.",
    },
    {"name": "Account", "description": "Keys, usage, quotas, the completion webhook, deletion."},
    {
        "name": "Deletions",
        "description": ("The progress of an account's deletion, for the holder of its token."),
    },
    {
        "name": "Webhooks",
        "description": "Signed documents sent by other systems, and notifications of mail providers.",
    },
    {"name": "Embedding", "description": "This installation's embedder, for other programs."},
    {"name": "Operate", "description": "For orchestrators and Prometheus."},
]
ROUTERS: Final = (
    mail_webhooks.router,
    webhook_intake.router,
    uploads.router,
    retrying.router,
    document_counts.router,
    documents.router,
    documents.originals,
    document_pages.router,
    document_pages.pictures,
    operations.router,
    views.router,
    searching.router,
    gates.router,
    projects.router,
    reindexes.router,
    account.router,
    session.router,
    tenants.router,
    installation_keys.router,
    audit.router,
    sources.router,
    source_kinds.router,
    source_passwords.router,
    source_syncing.router,
    decisions.router,
    source_connections.router,
    connect_pages.router,
    clients.router,
    ingestions.router,
    overview.router,
    queues.router,
    tasks.router,
    task_types.router,
    workers.router,
    schedules.router,
    inlets.router,
    failures.router,
    processes.router,
    deletion.router,
    deletion.receipts,
    embedding.router,
    events.router,
    health.router,
    docs_page.router,
    server_pages.router,
    login_pages.router,
    console_pages.router,
)
"""In this order each request is matched against the routes. Others decide how often webhooks are called."""
_OPEN: Final = frozenset({"Deletions", "Webhooks", "Embedding", "Operate"})
_PROBLEM: Final[dict[int | str, dict[str, Any]]] = {
    "default": {
        "description": "An error (RFC 9457).",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


def create_app(
    engine: Engine,
    *,
    opens: bool = False,
    host: str | None = None,
    metrics: Metrics | None = None,
) -> FastAPI:
    """The API over an open engine; with `opens` the API itself opens and closes it.

    `host` is the address it is served on, if it differs from the settings.
    """

    live = LiveChanges(engine)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if opens:
                await stack.enter_async_context(engine)
            stack.push_async_callback(live.finished)
            stack.callback(live.close)
            yield

    app = FastAPI(
        title="Penstock API",
        version=version("penstock"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    # It logs a warning for every malformed byte anybody sends; the response to the caller is enough.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    assert_loopback(engine.settings, host or engine.settings.api_host)
    app.state.engine = engine
    app.state.bundle = Bundle()
    app.state.live = live
    app.state.stopping = [live.close]
    app.state.rate_limit = RateLimit()
    settings = engine.settings
    whole = settings.spool_bytes or 8 * settings.max_upload_bytes
    each = settings.spool_bytes_per_tenant or 4 * settings.max_upload_bytes
    # Anybody may send to a webhook, and signatures are checked only at the end: a separate share of spool.
    app.state.unsigned_budget = SpoolBudget(whole // 4, each)
    app.state.spool_budget = SpoolBudget(whole - whole // 4, each)
    app.state.embed_guesses = SecretGuesses()
    app.state.login_guesses = SecretGuesses()
    app.state.metrics = metrics or Metrics()
    counts = RequestCounts(app.state.metrics.registry())
    app.state.notification_counts = NotificationCounts(app.state.metrics.registry())
    app.router.routes.extend(_routes())
    app.router.routes.append(Route("/mcp", http_app(engine, admit=admit)))
    app.state.api_segments = console_pages.api_segments(app.router.routes)
    for error in (PenstockError, RequestValidationError, HTTPException):
        app.add_exception_handler(error, _refuse)
    app.add_middleware(
        HostCheck,
        listed=settings.api_allowed_hosts,
        host=host or settings.api_host,
        public_url=settings.public_url,
    )
    app.add_middleware(EnvelopeMiddleware, counts=counts)
    app.add_middleware(DrainConnections)
    if settings.api_prefix:
        app.add_middleware(PathPrefix, prefix=settings.api_prefix)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way to extend it
    return app


def _routes() -> Iterator[BaseRoute]:
    """The routes of all routers, as they are.

    FastAPI's include_router makes each route a second time, in every app and during its first request:
    that takes longer than everything else in the start of the API.
    """
    for route in (route for router in ROUTERS for route in router.routes):
        if isinstance(route, APIRoute):
            route.responses = _PROBLEM | route.responses
        yield route


async def _refuse(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 404:
        shown = await console_pages.page_instead(request, request.app.state.api_segments)
        if shown is not None:
            return shown
    refused = refusal_of(error)
    if refused is None:
        raise error
    status = error.status_code if isinstance(error, HTTPException) else None
    return answer(refused, instance=request.url.path, request_id=request.state.request_id, status=status)


def _described(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        described = get_openapi(
            title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes, tags=_TAGS
        )
        components = described.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        whole = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= whole.pop("$defs", {}) | {"Problem": whole}
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            "brainSecret": {"type": "apiKey", "in": "header", "name": embedding.SECRET_HEADER},
        }
        for operations in described["paths"].values():
            for verb, operation in operations.items():
                # The first sentence of a handler says more than its name.
                first, _, rest = operation.pop("description", operation["summary"]).partition("\n\n")
                operation["summary"] = " ".join(first.split()).rstrip(".")
                if rest:
                    operation["description"] = rest
                if _OPEN.isdisjoint(operation.get("tags", ())):
                    operation["security"] = [{"bearer": []}, {"apiKey": []}, {"session": []}]
                    if verb in ("post", "put"):
                        operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
        described["x-problems"] = [
            {"kind": kind, "status": status, "title": title} for kind, (status, title) in KINDS.items()
        ]
        app.openapi_schema = described
    return app.openapi_schema


_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": (
        "A repeated request with the same key and content is carried out once and gets the same response."
    ),
}
