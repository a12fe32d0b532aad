"""Sources that log in with a password, over HTTP: add a mailbox, change its password."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin
from penstock.model import SourceId
from penstock.sources.sources import Source

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")

OneSource = Annotated[UUID, Path(alias="source_id", description="The source's id.")]
Password = Annotated[
    Text,
    Field(
        min_length=1,
        max_length=1_000,
        repr=False,
        json_schema_extra={"writeOnly": True, "format": "password"},
        description="It goes to the vault and is never returned.",
    ),
]


class MailboxWanted(Body):
    host: Annotated[Text, Field(min_length=1, max_length=253)]
    user: Annotated[Text, Field(min_length=1, max_length=320)]
    password: Password
    port: Annotated[int | None, Field(ge=1, le=65_535)] = None
    security: Literal["tls", "starttls", "none"] = "tls"
    """`none` is for a server on this machine."""
    ca: Annotated[Text | None, Field(max_length=65_536)] = None
    """Certificates to trust instead of the usual ones, as PEM."""
    folders: Annotated[list[Text] | None, Field(max_length=50)] = None
    mail_text: bool = False
    rules: dict[str, Any] | None = None
    name: Annotated[Text | None, Field(min_length=1, max_length=200)] = None
    project: Annotated[Text, Field(min_length=1, max_length=63)] = "default"
    sync_every_seconds: Annotated[int | None, Field(ge=60, le=31_536_000)] = None
    """How often it is read even if the server does not tell of new mails; null: the default for mailboxes."""


class PasswordWanted(Body):
    password: Password


@router.post("/sources/imap", status_code=201, operation_id="addImapSource")
async def add_imap_source(request: Request, caller: Admin, body: MailboxWanted) -> Source:
    """Add a mailbox that is read by IMAP, and start its first sync."""
    given = {
        "host": body.host,
        "user": body.user,
        "port": body.port,
        "security": body.security,
        "ca": body.ca,
        "folders": body.folders,
        "mail_text": body.mail_text,
        "rules": body.rules,
    }
    every: dict[str, Any] = {}
    if body.sync_every_seconds is not None:
        every["sync_every"] = timedelta(seconds=body.sync_every_seconds)
    return await engine_of(request).sources.add(
        caller.tenant_id,
        "imap",
        {name: value for name, value in given.items() if value is not None},
        name=body.name or body.user,
        project=body.project,
        password=body.password,
        **every,
    )


@router.put("/sources/{source_id}/password", operation_id="setSourcePassword")
async def set_source_password(
    request: Request, caller: Admin, source_id: OneSource, body: PasswordWanted
) -> Source:
    """Give a source the password it logs in with from now on, and sync it."""
    return await engine_of(request).sources.set_password(caller.tenant_id, SourceId(source_id), body.password)
