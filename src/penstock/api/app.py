"""Puts the API together: routes, error answers, the envelope, and the description at /openapi.json."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.routing import Route

from penstock.api import (
    account,
    deletion,
    docs_page,
    documents,
    embedding,
    health,
    ingestions,
    projects,
    retrying,
    searching,
    sources,
    uploads,
    webhook_intake,
)
from penstock.api.envelope import Envelope
from penstock.api.host_check import HostCheck
from penstock.api.identity import admit
from penstock.api.lingering import Lingering
from penstock.api.problem import KINDS, MEDIA_TYPE, Problem, answer
from penstock.api.rate_limit import RateLimit
from penstock.api.refusals import refusal_of
from penstock.api.request_counts import RequestCounts
from penstock.api.secret_guesses import SecretGuesses
from penstock.errors import PenstockError
from penstock.intake.spool import SpoolBudget
from penstock.mcp import http_app
from penstock.observe import Metrics
from penstock.product import Product

_DESCRIPTION: Final = (
    "Documents go in, answers come out. Send your key as Authorization: Bearer pk_…, or as X-API-Key. "
    "POST and PUT take an Idempotency-Key: sent twice, done once."
)
_TAGS: Final = [
    {"name": "Documents", "description": "Take documents in, follow them, get them back, delete them."},
    {"name": "Search", "description": "Find passages by meaning and by words."},
    {"name": "Projects", "description": "Collections with settings of their own."},
    {"name": "Sources", "description": "Where documents come from: the tenant's webhook."},
    {"name": "Account", "description": "Keys, usage, quotas, the completion webhook, deletion."},
    {"name": "Deletions", "description": "How far the deletion of an account is, for who holds its token."},
    {"name": "Webhooks", "description": "Documents that other systems send, signed."},
    {"name": "Embedding", "description": "This installation's embedder for other programs."},
    {"name": "Operate", "description": "For orchestrators and Prometheus."},
]
_OPEN: Final = frozenset({"Deletions", "Webhooks", "Embedding", "Operate"})
_PROBLEM: Final[dict[int | str, dict[str, Any]]] = {
    "default": {
        "description": "A problem.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


def create_app(
    product: Product,
    *,
    opens: bool = False,
    host: str | None = None,
    metrics: Metrics | None = None,
) -> FastAPI:
    """The API over a product that is open; with `opens` the API itself opens and closes it.

    `host` is the address it is served on, if that is not the settings'.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if opens:
                await stack.enter_async_context(product)
            yield

    app = FastAPI(
        title="Penstock API",
        version=version("penstock"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        responses=_PROBLEM,
    )
    # It warns of every odd byte that anybody sends; the caller is told, which is enough.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    app.state.product = product
    app.state.rate_limit = RateLimit()
    settings = product.settings
    whole = settings.spool_bytes or 16 * settings.max_upload_bytes
    each = settings.spool_bytes_per_tenant or 8 * settings.max_upload_bytes
    # Anybody may send to a webhook, and whether a body is signed shows at its end: a share of their own.
    app.state.unsigned_budget = SpoolBudget(whole // 4, each)
    app.state.spool_budget = SpoolBudget(whole - whole // 4, each)
    app.state.embed_guesses = SecretGuesses()
    app.state.metrics = metrics or Metrics()
    counts = RequestCounts(app.state.metrics.registry())
    for room in (
        uploads.router,
        retrying.router,
        documents.router,
        documents.originals,
        searching.router,
        projects.router,
        account.router,
        sources.router,
        ingestions.router,
        deletion.router,
        deletion.receipts,
        webhook_intake.router,
        embedding.router,
        health.router,
        docs_page.router,
    ):
        app.include_router(room)
    app.router.routes.append(Route("/mcp", http_app(product, admit=admit)))
    for error in (PenstockError, RequestValidationError, HTTPException):
        app.add_exception_handler(error, _refuse)
    app.add_middleware(HostCheck, listed=settings.api_allowed_hosts, host=host or settings.api_host)
    app.add_middleware(Envelope, counts=counts)
    app.add_middleware(Lingering)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way to extend it
    return app


async def _refuse(request: Request, error: Exception) -> Response:
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
                    operation["security"] = [{"bearer": []}, {"apiKey": []}]
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
    "description": "Sent twice with the same request, it is done once and answered alike.",
}
