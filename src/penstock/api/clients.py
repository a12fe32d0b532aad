"""Clients: list and show them with their facts, join two, split a record off, keep records of your own."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Metadata, Text
from penstock.api.parameters import Limit, Reader, Writer
from penstock.errors import InvalidArgument
from penstock.sources.clients.rows import ClientDetails, ClientList, ClientOrder

router = APIRouter(route_class=GuardedRoute, tags=["Clients"], prefix="/v1/clients")

OneClient = Annotated[UUID, Path(alias="client_id", description="The id of the client or of a record of it.")]


class OtherClient(Body):
    other_id: Annotated[UUID, Field(description="The id of the other client, or of a record of it.")]


class RecordToSplit(Body):
    record_id: Annotated[UUID, Field(description="The `record_id` of one of the client's records.")]


class ClientWanted(Body):
    """A record that a person writes; no sync touches it."""

    name: Annotated[Text, Field(min_length=1, max_length=500, pattern=r"\S")]
    project: Annotated[Text, Field(min_length=1, max_length=63)] = "default"
    industry: Annotated[Text, Field(max_length=500)] | None = None
    summary: Annotated[Text, Field(max_length=20_000)] | None = None
    key_facts: Annotated[Metadata, Field(default_factory=dict)]


class ClientChange(Body):
    """What is not given stays as it is; `key_facts` replaces all facts of the record."""

    name: Annotated[Text, Field(min_length=1, max_length=500, pattern=r"\S")] | None = None
    industry: Annotated[Text, Field(max_length=500)] | None = None
    summary: Annotated[Text, Field(max_length=20_000)] | None = None
    key_facts: Metadata | None = None


@router.get("", operation_id="listClients")
async def clients(
    request: Request,
    caller: Reader,
    query: Annotated[
        str | None,
        Query(min_length=1, max_length=200, pattern=r"^[^\x00]*$", description="Part of a client's name."),
    ] = None,
    cursor: Annotated[
        str | None, Query(max_length=1_200, description="The `cursor` of the previous page.")
    ] = None,
    limit: Limit = 50,
    sort: Annotated[
        ClientOrder,
        Query(description="By `name` or by the last change, `updated`; a minus turns the order around."),
    ] = "name",
) -> ClientList:
    """List clients by name; each is one or more records of the connected sources."""
    return await engine_of(request).clients.list(
        caller.tenant_id, query=query, sort=sort, cursor=cursor, limit=limit
    )


@router.get("/{client_id}", operation_id="showClient")
async def client(request: Request, caller: Reader, client_id: OneClient) -> ClientDetails:
    """Show a client: its records, its facts with the items that state them, and why the records are one."""
    return await engine_of(request).clients.show(caller.tenant_id, client_id)


@router.post("/{client_id}/join", operation_id="joinClients")
async def join(request: Request, caller: Writer, client_id: OneClient, body: OtherClient) -> ClientDetails:
    """Join two clients into one; later syncs keep them together."""
    return await engine_of(request).clients.join(
        caller.tenant_id, client_id, body.other_id, decided_by=caller.decider
    )


@router.post("/{client_id}/split", operation_id="splitClient")
async def split(request: Request, caller: Writer, client_id: OneClient, body: RecordToSplit) -> ClientDetails:
    """Split a record off a client; it stays a client of its own until somebody joins it with another."""
    return await engine_of(request).clients.split(
        caller.tenant_id, body.record_id, client_id=client_id, decided_by=caller.decider
    )


@router.post("", status_code=201, operation_id="addClient")
async def add(request: Request, caller: Writer, body: ClientWanted) -> ClientDetails:
    """Add a record of your own; it becomes part of the client with the same name or domain, if any."""
    return await engine_of(request).clients.add(
        caller.tenant_id,
        body.name,
        project=body.project,
        industry=body.industry,
        summary=body.summary,
        facts=body.key_facts,
    )


@router.patch("/{client_id}", operation_id="changeClient")
async def change(request: Request, caller: Writer, client_id: OneClient, body: ClientChange) -> ClientDetails:
    """Change a record of your own; records of sources are changed at the source."""
    changes = body.model_dump(exclude_unset=True)
    if "name" in changes and changes["name"] is None:
        raise InvalidArgument("a client needs a name", "name", "Give it one, or leave it out")
    return await engine_of(request).clients.change(caller.tenant_id, client_id, changes)


@router.delete("/{client_id}", status_code=204, operation_id="removeClient")
async def remove(request: Request, caller: Writer, client_id: OneClient) -> None:
    """Delete a record of your own; records of sources go with their item or source."""
    await engine_of(request).clients.remove(caller.tenant_id, client_id)
