"""`penstock client add|edit|remove`: records of clients that a person writes and no sync touches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSlug, tenant_session
from penstock.errors import InvalidArgument
from penstock.model.rows import plain
from penstock.sources.clients.rows import ClientDetails

NewName = Annotated[str, typer.Argument(metavar="NAME", help="The client's name.")]
Named = Annotated[str, typer.Argument(metavar="CLIENT", help="The client's name or id, or a record_id.")]
Renamed = Annotated[str | None, typer.Option("--name", help="A new name.")]
Industry = Annotated[str | None, typer.Option(help="What business it is in.")]
Summary = Annotated[str | None, typer.Option(help="What there is to know about it.")]
Facts = Annotated[
    list[str] | None,
    typer.Option("--fact", metavar="NAME=VALUE", help="A fact; may be repeated. The value may be JSON."),
]


def add(
    name: NewName,
    project: ProjectSlug = DEFAULT,
    industry: Industry = None,
    summary: Summary = None,
    fact: Facts = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Add a manual record, which no sync changes.

    It becomes part of the client with the same name or domain, if there is one.
    """

    async def call() -> ClientDetails:
        async with tenant_session() as session:
            return await session.engine.clients.add(
                await session.tenant(tenant, change="client add", target=name),
                name,
                project=project,
                industry=industry,
                summary=summary,
                facts=facts_of(fact),
            )

    _tell("Added", run(call()), as_json=as_json)


def edit(
    client: Named,
    name: Renamed = None,
    industry: Industry = None,
    summary: Summary = None,
    fact: Facts = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Change a manual record.

    With --fact, all its facts are replaced.
    """
    given: dict[str, Any] = {"name": name, "industry": industry, "summary": summary}
    changes = {key: value for key, value in given.items() if value is not None}
    if fact is not None:
        changes["key_facts"] = facts_of(fact)
    if not changes:
        raise InvalidArgument("nothing to change", "name", "Add --name, --industry, --summary or --fact")

    async def call() -> ClientDetails:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="client edit", target=client)
            found = await session.engine.clients.find(owner, client)
            return await session.engine.clients.change(owner, found, changes)

    _tell("Changed", run(call()), as_json=as_json)


def remove(
    client: Named,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Delete a manual record; records from sources stay."""

    async def look() -> tuple[UUID, ClientDetails]:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            found = await session.engine.clients.find(owner, client)
            return found, await session.engine.clients.show(owner, found)

    async def call() -> None:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="client remove", target=client)
            await session.engine.clients.remove(owner, client_id)

    client_id, shown = run(look())
    own = [each for each in shown.records if each.source_id is None]
    told = f"delete {output.count(min(1, len(own)), 'record')} of your own about {shown.name}"
    if dry_run:
        would(told, as_json=as_json, count=min(1, len(own)), client_id=shown.client_id)
        return
    confirm(told, yes=yes, as_json=as_json)
    run(call())
    output.document({"client_id": client_id, "removed": True}) if as_json else output.write("Removed.")


def facts_of(options: Sequence[str] | None) -> dict[str, Any]:
    """Repeated NAME=VALUE options; a value that is JSON is read as such."""
    found: dict[str, Any] = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{option!r} is not of the form NAME=VALUE", param_hint="--fact")
        try:
            found[key] = json.loads(value)
        except (ValueError, RecursionError):
            found[key] = value
    return found


def _tell(done: str, found: ClientDetails, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(found))
    else:
        output.write(f"{done} {found.name}: {found.client_id}")
