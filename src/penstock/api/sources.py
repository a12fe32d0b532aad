"""A tenant's sources: list, pause, resume and remove them; make the webhook and rotate its secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Caller
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import product_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin
from penstock.api.shown_once import SecretNote, ShownOnce
from penstock.intake.webhook_sources import Source, WebhookSecret
from penstock.model import SourceId

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")

OneSource = Annotated[UUID, Path(alias="source_id", description="The source's id.")]


class Sources(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[Source]


class SourceWanted(Body):
    project: Annotated[Text, Field(min_length=1, max_length=63)] = "default"


class SourceSecret(BaseModel):
    model_config = ConfigDict(frozen=True)

    source_id: UUID
    secret: ShownOnce
    secret_note: SecretNote = None
    path: str


@router.get("/sources", operation_id="listSources")
async def sources(request: Request, caller: Admin) -> Sources:
    """List the sources, the oldest first."""
    return Sources(items=await product_of(request).webhooks.list(caller.tenant_id))


@router.post("/sources/webhook", status_code=201, operation_id="createWebhookSource")
async def create_webhook_source(
    request: Request, caller: Admin, body: SourceWanted | None = None
) -> SourceSecret:
    """Make the tenant's webhook, to which others send documents; its secret is shown this once."""
    project = (body or SourceWanted()).project
    return _told(caller, await product_of(request).webhooks.create(caller.tenant_id, project))


@router.post("/sources/webhook/rotate", operation_id="rotateWebhookSource")
async def rotate_webhook_source(request: Request, caller: Admin) -> SourceSecret:
    """Give the webhook a new secret; the one before stays good until the next rotation."""
    return _told(caller, await product_of(request).webhooks.renew(caller.tenant_id))


@router.post("/sources/{source_id}/pause", status_code=204, operation_id="pauseSource")
async def pause_source(request: Request, caller: Admin, source_id: OneSource) -> None:
    """Pause a source: until it is resumed, deliveries are refused as if it did not exist."""
    await product_of(request).webhooks.pause(caller.tenant_id, SourceId(source_id))


@router.post("/sources/{source_id}/resume", status_code=204, operation_id="resumeSource")
async def resume_source(request: Request, caller: Admin, source_id: OneSource) -> None:
    """Let a paused source take documents in again."""
    await product_of(request).webhooks.resume(caller.tenant_id, SourceId(source_id))


@router.delete("/sources/{source_id}", status_code=204, operation_id="removeSource")
async def remove_source(request: Request, caller: Admin, source_id: OneSource) -> None:
    """Remove a source and its secrets for good; the documents that came by it stay."""
    await product_of(request).webhooks.remove(caller.tenant_id, SourceId(source_id))


def _told(caller: Caller, made: WebhookSecret) -> SourceSecret:
    return SourceSecret(source_id=made.source_id, secret=made.secret, path=f"/webhook/{caller.tenant_slug}")
