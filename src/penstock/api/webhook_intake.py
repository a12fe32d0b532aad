"""POST /webhook/{tenant}: a signed delivery becomes a document; only its signature is trusted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from penstock.accounts import Tenant
from penstock.api.bodies import announced, stream
from penstock.api.guarded import refuse_nul
from penstock.api.header_parameters import filename_of, parameters
from penstock.api.identity import engine_of
from penstock.api.json_values import METADATA_BYTES, checked_text
from penstock.api.multipart import UploadForm, clean_filename, is_form
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.blobs.spool import SpoolBudget, Spooled, spool
from penstock.documents.rows import Taken
from penstock.engine.engine import Engine
from penstock.errors import Conflict, InvalidArgument, NotFound, TenantClosed, TooLarge
from penstock.model import IngestionStatus
from penstock.net.errors import SignatureInvalid
from penstock.sources.webhook.webhook_source import WebhookSource
from penstock.webhooks.signature import (
    ID,
    SIGNATURE,
    TIMESTAMP,
    SignatureCheck,
    VerifiedMessage,
    generate_secret,
    read_signed,
)

router = APIRouter(tags=["Webhooks"])

_SOONEST_SECONDS: Final = 0.1
"""Wrong signatures are rejected after a fixed time: the time of the lookup would reveal which tenants
exist."""

_BODY: Final[dict[str, Any]] = {
    "parameters": [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
        for name in (ID, TIMESTAMP, SIGNATURE)
    ],
    "requestBody": {
        "required": True,
        "content": {
            "*/*": {"schema": {"type": "string", "format": "binary"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
        },
    },
}


class Delivered(BaseModel):
    model_config = ConfigDict(frozen=True)

    ingestion_id: UUID
    document_id: UUID
    created: bool
    skipped: bool
    status: IngestionStatus


@router.post("/webhook/{tenant_slug}", status_code=202, openapi_extra=_BODY, operation_id="receiveWebhook")
async def receive(
    request: Request,
    tenant_slug: Annotated[str, Path(max_length=63, pattern="^[a-z0-9][a-z0-9-]*$")],
) -> Delivered:
    """Receive a delivery: the body itself, or the part `file` of a form, signed according to Standard
    Webhooks."""
    refuse_nul(request)
    signed = read_signed(request.headers, datetime.now(UTC))
    soonest = asyncio.get_running_loop().time() + _SOONEST_SECONDS
    engine = engine_of(request)
    common = engine.settings.max_upload_bytes
    limits: RateLimit = request.app.state.rate_limit
    refuse_over(limits.take(("webhook", tenant_slug), engine.settings.requests_per_minute))
    found = await _find(engine, tenant_slug)
    # Without a webhook, a body is read and rejected as if there were one, and nothing of it is kept.
    limit = 0 if found is None else found.tenant.max_upload_bytes or common
    check = SignatureCheck([generate_secret()] if found is None else found.source.secrets, signed)
    budget: SpoolBudget = request.app.state.unsigned_budget
    with budget.share(tenant_slug, announced(request)) as take:
        body = _Body(request, check, keep=limit, most=max(limit, common), take=take)
        async with spool(body.pieces(), limit=max(limit, 1)) as spooled:
            try:
                message = check.finish()
            except SignatureInvalid:
                await asyncio.sleep(soonest - asyncio.get_running_loop().time())
                raise
            assert found is not None, "no signature matches the secret that was made for this request alone"
            body.refuse_unfit()
            taken = await _taken(request, found, message, spooled, take)
    return Delivered.model_validate(taken, from_attributes=True)


@dataclass(frozen=True, slots=True)
class _Found:
    tenant: Tenant
    source: WebhookSource


async def _find(engine: Engine, slug: str) -> _Found | None:
    """The tenant's webhook; None if there is none, which only valid signers may learn."""
    try:
        tenant = await engine.accounts.find_tenant(slug)
        return _Found(tenant, await engine.webhooks.find(tenant.tenant_id))
    except (NotFound, TenantClosed):
        return None


@dataclass(slots=True)
class _Body:
    """An incoming body: all of it is hashed, and as much is kept as the tenant may send.

    The tenant's own limit is revealed only to valid signers; until then `most` is what anybody may send.
    """

    request: Request
    check: SignatureCheck
    keep: int
    most: int
    take: Callable[[int], None]
    size: int = 0

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in stream(self.request):
            self.size += len(piece)
            if self.size > self.most:
                raise TooLarge(f"the body is over {self.most} bytes", "body", "Send less in one request")
            self.take(len(piece))
            self.check.update(piece)
            if self.size <= self.keep:
                yield piece

    def refuse_unfit(self) -> None:
        if self.size == 0:
            raise InvalidArgument("the body is empty", "body", "Send the document")
        if self.size > self.keep:
            raise TooLarge(f"the body is over {self.keep} bytes", "body", "Send less in one request")


async def _taken(
    request: Request, found: _Found, message: VerifiedMessage, spooled: Spooled, take: Callable[[int], None]
) -> Taken:
    kind = request.headers.get("content-type", "")
    if not is_form(kind):
        return await _kept(request, found, message, spooled, _named(request), kind or None, {})
    form = UploadForm(kind, spooled.pieces())
    await form.begin()
    async with spool(form.content(), limit=spooled.size, take=take) as part:
        noted = {
            name: value
            for name, value in form.fields.items()
            if checked_text(name, "body", 100) and checked_text(value, name, METADATA_BYTES)
        }
        return await _kept(request, found, message, part, form.filename, form.file_type, noted)


async def _kept(
    request: Request,
    found: _Found,
    message: VerifiedMessage,
    content: Spooled,
    filename: str | None,
    declared_type: str | None,
    fields: dict[str, str],
) -> Taken:
    try:
        return await engine_of(request).intake.take_in(
            found.tenant.tenant_id,
            content,
            filename=filename,
            declared_type=declared_type,
            **found.source.provenance(
                message,
                path=request.url.path,
                source_ip=None if request.client is None else request.client.host,
                fields=fields,
            ),
        )
    except InvalidArgument as refused:
        if refused.field != SIGNATURE:
            raise
        # A replay: the first delivery was accepted, so a sender that retries may stop.
        raise Conflict(refused.message, refused.field, refused.remedy) from refused


def _named(request: Request) -> str | None:
    """The file name of a raw body, if any: `Content-Disposition: attachment; filename="…"`."""
    return clean_filename(filename_of(parameters(request.headers.get("content-disposition", ""))))
