"""`penstock client`: list and show clients with their facts, join two, split one off."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from penstock.cli import output
from penstock.cli.documents import client_records
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.model import TenantId
from penstock.model.rows import plain
from penstock.sources.clients.clients import Clients
from penstock.sources.clients.rows import ClientDetails, ClientFact, ClientReason

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
group.command("add")(client_records.add)
group.command("edit")(client_records.edit)
group.command("remove")(client_records.remove)

T = TypeVar("T")

ClientName = Annotated[str, typer.Argument(metavar="CLIENT", help="The client's name or id.")]
OtherName = Annotated[str, typer.Argument(metavar="OTHER", help="The other client's name or id.")]
Record = Annotated[UUID, typer.Argument(metavar="RECORD", help="A record_id that client show lists.")]
Query = Annotated[
    str | None, typer.Option("--query", "-q", help="Only clients whose name contains this text.")
]
Cursor = Annotated[str | None, typer.Option(help="Continue after the page that returned this cursor.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Maximum number of clients to show.")]

LISTED = ("client_id", "name", "industry", "record_count", "sources")
FACTS = ("fact", "value", "source", "stated by", "as of")
RECORDS = ("record_id", "source", "external_id", "name", "updated_at")


@group.command("list")
def list_clients(
    query: Query = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """List clients by name."""
    page = _call(tenant, lambda clients, owner: clients.list(owner, query=query, cursor=cursor, limit=limit))
    if as_json:
        output.document({"clients": [plain(each) for each in page.items], "cursor": page.cursor})
        return
    output.records(LISTED, page.items, empty="No clients. Connect a source: penstock source connect hubspot")
    if page.cursor is not None:
        warn(f"There are more: add --cursor {page.cursor}")


@group.command("show")
def show(client: ClientName, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Show a client: facts, their sources, and records.

    It also says why the records belong together.
    """

    async def find(clients: Clients, owner: TenantId) -> ClientDetails:
        return await clients.show(owner, await clients.find(owner, client))

    _show(_call(tenant, find), as_json=as_json)


@group.command("join")
def join(
    client: ClientName, other: OtherName, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Join two clients into one; later syncs keep them together."""

    async def both(clients: Clients, owner: TenantId) -> ClientDetails:
        first, second = await clients.find(owner, client), await clients.find(owner, other)
        return await clients.join(owner, first, second, decided_by=getpass.getuser())

    _show(_call(tenant, both, "client join", f"{client}, {other}"), as_json=as_json)


@group.command("split")
def split(record: Record, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Split a record off its client.

    It stays a client of its own until somebody joins it with another.
    """
    _show(
        _call(
            tenant,
            lambda clients, owner: clients.split(owner, record, decided_by=getpass.getuser()),
            "client split",
            str(record),
        ),
        as_json=as_json,
    )


def _call(
    tenant: str,
    call: Callable[[Clients, TenantId], Awaitable[T]],
    change: str | None = None,
    target: str | None = None,
) -> T:
    async def calling() -> T:
        async with tenant_session() as session:
            return await call(
                session.engine.clients, await session.tenant(tenant, change=change, target=target)
            )

    return run(calling())


def _show(found: ClientDetails, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(found))
        return
    shown = {name: getattr(found, name) for name in ("client_id", "name", "industry", "summary")}
    output.facts({name: value for name, value in shown.items() if value is not None})
    output.write("")
    show_facts(found.facts)
    output.write(f"\n{output.count(found.record_count, 'record')}")
    output.records(RECORDS, found.records, empty="No records.")
    if found.record_count > len(found.records):
        output.write(f"and {found.record_count - len(found.records):,} more")
    for reason in found.reasons:
        output.write(_reason(reason))
    if found.documents:
        output.write("\nRecent documents")
        output.records(("document_id", "document_type", "title", "updated_at"), found.documents)


def show_facts(facts: Sequence[ClientFact]) -> None:
    """Each fact with its source, the items that state it, and when; the elements of a list a line each."""
    rows: list[tuple[object, ...]] = []
    for fact in facts:
        first, *others = fact.value if isinstance(fact.value, list) and fact.value else [fact.value]
        rows.append((fact.name, _value(first), fact.source, _items(fact.items, fact.item_count), fact.as_of))
        rows += [("", _value(each), "", "", "") for each in others]
    output.table(FACTS, rows, empty="No facts.")


def _value(value: object) -> str:
    match value:
        case list():
            return "; ".join(_value(each) for each in value)
        case dict():
            return ", ".join(f"{name} {_value(each)}" for name, each in value.items())
        case float():
            return f"{value:,.2f}"
        case _:
            return str(value)


def _items(items: object, count: int) -> str:
    listed = list(items) if isinstance(items, list | tuple) else []
    return ", ".join(listed) + (f" and {count - len(listed)} more" if count > len(listed) else "")


def _reason(reason: ClientReason) -> str:
    if reason.key == "join":
        return f"{output.count(reason.record_count, 'record')} joined by {reason.decided_by or 'a person'}"
    return f"{output.count(reason.record_count, 'record')} with the {reason.key} {reason.value}"
