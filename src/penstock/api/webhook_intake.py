"""POST /webhook/{tenant}: a signed delivery becomes a document; its signature is believed, nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path as FilePath
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.bodies import refuse_announced, stream
from penstock.api.guarded import refuse_nul
from penstock.api.header_parameters import filename_of, parameters
from penstock.api.identity import product_of
from penstock.api.json_values import METADATA_BYTES, checked_text
from penstock.api.multipart import UploadForm, clean_filename, is_form
from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.errors import Conflict, InvalidArgument
from penstock.intake import Taken
from penstock.intake.spool import Spooled, spool
from penstock.model import IngestionStatus, TenantId
from penstock.net.webhooks import ID, SIGNATURE, TIMESTAMP

router = APIRouter(tags=["Webhooks"])

LARGE_AT_ONCE: Final = 4
"""A signature is checked over a whole body in memory: so many at once of those that had to be spooled."""

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
    """Take a delivery in: the body itself, or the part `file` of a form, signed as Standard Webhooks says."""
    product = product_of(request)
    refuse_nul(request)
    for name in (ID, TIMESTAMP, SIGNATURE):
        if name not in request.headers:
            raise HttpRefused(
                "unauthorized", f"The header {name} is missing", "Sign the delivery", field=name
            )
    limits: RateLimit = request.app.state.rate_limit
    refuse_over(limits.take(("webhook", tenant_slug), product.settings.requests_per_minute))
    tenant = await product.accounts.find_tenant(tenant_slug)
    limit = tenant.max_upload_bytes or product.settings.max_upload_bytes
    refuse_announced(request, limit, what="body")
    async with spool(stream(request), limit=limit) as spooled:
        if spooled.size == 0:
            raise InvalidArgument("the body is empty", "body", "Send the document")
        if spooled.data is not None:
            taken = await _taken(request, tenant.tenant_id, spooled, spooled.data)
        else:
            assert spooled.path is not None
            large: asyncio.Semaphore = request.app.state.large_bodies
            async with large:
                body = await asyncio.to_thread(FilePath(spooled.path).read_bytes)
                taken = await _taken(request, tenant.tenant_id, spooled, body)
    return Delivered.model_validate(taken.model_dump())


async def _taken(request: Request, tenant_id: TenantId, spooled: Spooled, body: bytes) -> Taken:
    kind = request.headers.get("content-type", "")
    if not is_form(kind):
        return await _received(request, tenant_id, body, spooled, _named(request), kind or None, {})
    form = UploadForm(kind, _pieces(body))
    await form.begin()
    async with spool(form.content(), limit=len(body)) as part:
        noted = {
            name: value
            for name, value in form.fields.items()
            if checked_text(name, "body", 100) and checked_text(value, name, METADATA_BYTES)
        }
        return await _received(request, tenant_id, body, part, form.filename, form.file_type, noted)


async def _received(
    request: Request,
    tenant_id: TenantId,
    body: bytes,
    content: Spooled,
    filename: str | None,
    declared_type: str | None,
    fields: dict[str, str],
) -> Taken:
    try:
        return await product_of(request).webhooks.receive(
            tenant_id,
            request.headers,
            body,
            content,
            path=request.url.path,
            source_ip=None if request.client is None else request.client.host,
            filename=filename,
            declared_type=declared_type,
            metadata={"fields": fields} if fields else None,
        )
    except InvalidArgument as refused:
        if refused.field != SIGNATURE:
            raise
        # A replay: what it asks for was done then, so a sender that tries again may stop.
        raise Conflict(refused.message, refused.field, refused.remedy) from refused


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 65_536):
        yield body[start : start + 65_536]


def _named(request: Request) -> str | None:
    """The name a raw body was given, if any: `Content-Disposition: attachment; filename="…"`."""
    return clean_filename(filename_of(parameters(request.headers.get("content-disposition", ""))))
