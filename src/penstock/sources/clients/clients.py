"""A tenant's clients: list and show them, join two, split one off, keep records of your own."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument, NotFound
from penstock.model import TenantId
from penstock.model.rows import row_from, row_from_json
from penstock.sources.clients.grouping import group_clients
from penstock.sources.clients.rows import ClientDetails, ClientList, ClientOrder, ClientRow

LIST: Final = "select ingest.list_clients($1, $2, $3, $4, $5, $6)"
FIND: Final = "select ingest.find_clients($1)"
SHOW: Final = "select ingest.show_client($1)"
JOIN: Final = "select ingest.join_clients($1, $2, $3)"
GROUP_OF: Final = "select ingest.show_client($1, 0) ->> 'client_id'"
SPLIT: Final = "select ingest.split_client($1, $2)"
ADD: Final = "select ingest.put_client($1, $2, $3, $4, $5)"
CHANGE: Final = "select ingest.set_client($1, $2)"
REMOVE: Final = "select ingest.delete_client($1)"


class Clients:
    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def list(
        self,
        tenant_id: TenantId,
        *,
        query: str | None = None,
        sort: ClientOrder = "name",
        cursor: str | None = None,
        limit: int = 50,
    ) -> ClientList:
        """Clients by name or last change; `query` is part of a name."""
        by_name = sort.endswith("name")
        last, client_id = _read_cursor(cursor)
        name, changed_at = (last, None) if by_name else (None, _time_in(last))
        await group_clients(self._tenants, tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            found = await conn.fetch(LIST, query, name, client_id, limit + 1, sort, changed_at)
        rows: list[dict[str, Any]] = [json.loads(row[0]) for row in found]
        more = len(rows) > limit
        rows = rows[:limit]
        last_of = "name_key" if by_name else "updated_at"
        following = _write_cursor(rows[-1][last_of], rows[-1]["client_id"]) if more else None
        return ClientList(items=[row_from(ClientRow, row) for row in rows], cursor=following)

    async def show(self, tenant_id: TenantId, client_id: UUID) -> ClientDetails:
        """A client by its id or by the id of one of its records."""
        await group_clients(self._tenants, tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            return row_from_json(ClientDetails, await conn.fetchval(SHOW, client_id))

    async def find(self, tenant_id: TenantId, name: str) -> UUID:
        """The id of the one client with this name, or of a client or record with this id.

        Case, punctuation and legal form do not matter. Raises InvalidArgument if several have the name.
        """
        try:
            return UUID(name)
        except ValueError:
            pass
        await group_clients(self._tenants, tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            found = [json.loads(row[0]) for row in await conn.fetch(FIND, name)]
        if not found:
            raise NotFound(
                f"no client is called {name!r}", "client", "See penstock client list for names and ids"
            )
        if len(found) > 1:
            several = "".join(f"\n  {each['client_id']}  {each['name']}" for each in found)
            raise InvalidArgument(f"{name!r} matches several clients:{several}\n", "client", "Use the id")
        return UUID(found[0]["client_id"])

    async def join(
        self, tenant_id: TenantId, client_id: UUID, other_id: UUID, *, decided_by: str | None = None
    ) -> ClientDetails:
        """Make one client of two, for good: later syncs do not part them. Returns the joined client."""
        async with self._tenants.transaction(tenant_id) as conn:
            joined = await conn.fetchval(JOIN, client_id, other_id, decided_by)
            return row_from_json(ClientDetails, await conn.fetchval(SHOW, joined))

    async def split(
        self,
        tenant_id: TenantId,
        record_id: UUID,
        *,
        client_id: UUID | None = None,
        decided_by: str | None = None,
    ) -> ClientDetails:
        """Split one record off its client, for good: it stays alone until a person joins it with another.

        Returns the client it now is. With `client_id` the record must be one of that client's.
        """
        await group_clients(self._tenants, tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            if client_id is not None:
                whole = await conn.fetchval(GROUP_OF, client_id)
                if whole != await conn.fetchval(GROUP_OF, record_id):
                    raise NotFound(
                        f"client {client_id} has no record {record_id}",
                        "record_id",
                        "Take the record_id of one of its records",
                    )
            alone = await conn.fetchval(SPLIT, record_id, decided_by)
            return row_from_json(ClientDetails, await conn.fetchval(SHOW, alone))

    async def add(
        self,
        tenant_id: TenantId,
        name: str,
        *,
        project: str = "default",
        industry: str | None = None,
        summary: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> ClientDetails:
        """Write a record of your own, which no sync touches; it joins a client with the same name or domain.

        Returns the client it is now part of.
        """
        async with self._tenants.transaction(tenant_id) as conn:
            added = await conn.fetchval(ADD, project, name, industry, summary, json.dumps(facts or {}))
            return row_from_json(ClientDetails, await conn.fetchval(SHOW, added))

    async def change(self, tenant_id: TenantId, client_id: UUID, changes: Mapping[str, Any]) -> ClientDetails:
        """Change `name`, `industry`, `summary` or `key_facts` of a record of your own.

        Raises InvalidMove for a record that a source states: the next sync would undo it.
        """
        async with self._tenants.transaction(tenant_id) as conn:
            changed = await conn.fetchval(CHANGE, client_id, json.dumps(changes))
            return row_from_json(ClientDetails, await conn.fetchval(SHOW, changed))

    async def remove(self, tenant_id: TenantId, client_id: UUID) -> None:
        """Delete a record of your own; raises InvalidMove for a record that a source states."""
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute(REMOVE, client_id)


def _write_cursor(last: str, client_id: str) -> str:
    return base64.urlsafe_b64encode(f"{client_id}{last}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str | None) -> tuple[str | None, UUID | None]:
    if cursor is None:
        return None, None
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if "\x00" in text:
            raise ValueError
        return text[36:], UUID(text[:36])
    except ValueError:
        raise _not_a_cursor(cursor) from None


def _time_in(last: str | None) -> datetime | None:
    if last is None:
        return None
    try:
        return datetime.fromisoformat(last).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _not_a_cursor(last) from None


def _not_a_cursor(given: str) -> InvalidArgument:
    return InvalidArgument(
        f"{given!r} is not a cursor", "cursor", "Pass the cursor of the previous page unchanged"
    )
