"""A tenant's sources: list, pause, resume and remove them; create the webhook and rotate its secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Caller
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin, NamePart, Operator, Reader, States
from penstock.api.shown_once import SecretNote, ShownOnce
from penstock.model import SourceId
from penstock.sources.sources import ListedSource
from penstock.sources.webhook.webhook_source import WebhookSecret

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")

Documents = Annotated[
    Literal["keep", "delete"] | None,
    Query(description="What happens to the documents of a connected source."),
]
OneSource = Annotated[UUID, Path(alias="source_id", description="The source's id.")]


class SourceList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[ListedSource]


class SourceWanted(Body):
    project: Annotated[Text, Field(min_length=1, max_length=63)] = "default"


class SourceSecret(BaseModel):
    model_config = ConfigDict(frozen=True)

    source_id: UUID
    secret: ShownOnce
    secret_note: SecretNote = None
    path: str


@router.get("/sources", operation_id="listSources")
async def sources(
    request: Request,
    caller: Reader,
    kind: Annotated[
        str | None,
        Query(max_length=500, description="Only these kinds, separated by commas; ! excludes one."),
    ] = None,
    state: States = None,
    project: Annotated[str | None, Query(max_length=63, description="Only those of this project.")] = None,
    q: NamePart = None,
) -> SourceList:
    """List sources, oldest first, with how many documents each has and its last sync."""
    chosen = {"kind": kind, "state": state, "project": project, "q": q}
    return SourceList(items=await engine_of(request).sources.list(caller.tenant_id, chosen))


@router.post("/sources/webhook", status_code=201, operation_id="createWebhookSource")
async def create_webhook_source(
    request: Request, caller: Admin, body: SourceWanted | None = None
) -> SourceSecret:
    """Create the tenant's webhook, to which others send documents; its secret is shown only once."""
    project = (body or SourceWanted()).project
    return _told(caller, await engine_of(request).webhooks.create(caller.tenant_id, project))


@router.post("/sources/webhook/rotate", operation_id="rotateWebhookSource")
async def rotate_webhook_source(request: Request, caller: Admin) -> SourceSecret:
    """Give the webhook a new secret; the previous secret is valid until the next rotation."""
    return _told(caller, await engine_of(request).webhooks.renew(caller.tenant_id))


@router.post("/sources/{source_id}/pause", status_code=204, operation_id="pauseSource")
async def pause_source(request: Request, caller: Operator, source_id: OneSource) -> None:
    """Pause a source: until it is resumed, deliveries are rejected as if it did not exist."""
    await engine_of(request).sources.pause(caller.tenant_id, SourceId(source_id))


@router.post("/sources/{source_id}/resume", status_code=204, operation_id="resumeSource")
async def resume_source(request: Request, caller: Operator, source_id: OneSource) -> None:
    """Accept deliveries of a paused source again."""
    await engine_of(request).sources.resume(caller.tenant_id, SourceId(source_id))


@router.delete("/sources/{source_id}", status_code=204, operation_id="removeSource")
async def remove_source(
    request: Request, caller: Admin, source_id: OneSource, documents: Documents = None
) -> None:
    """Remove a source for good, and its secrets; tokens of a connected source are revoked at the provider.

    A connected source needs `documents`: whether to keep or delete what it brought in. The documents of a
    webhook are kept. Tokens are revoked, and many documents deleted, in the background.
    """
    sources = engine_of(request).sources
    if documents is None:
        await sources.remove(caller.tenant_id, SourceId(source_id))
    else:
        await sources.disconnect(caller.tenant_id, SourceId(source_id), documents=documents)


def _told(caller: Caller, made: WebhookSecret) -> SourceSecret:
    return SourceSecret(source_id=made.source_id, secret=made.secret, path=f"/webhook/{caller.tenant_slug}")
