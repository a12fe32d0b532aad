"""Views of a page saved under a name, shared by a team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.db import Connection
from penstock.model.rows import row_from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedView:
    """A page's query string under a name."""

    view_id: UUID
    page: str
    name: str
    query: str
    created_by: str
    created_at: datetime
    updated_at: datetime


class SavedViews:
    """Over a connection in a transaction of a tenant, or with `all_tenants` in an operator's."""

    def __init__(self, connection: Connection, *, all_tenants: bool = False) -> None:
        self._connection = connection
        self._schema = "all_tenants" if all_tenants else "accounts"

    async def list(self, page: str | None = None) -> Sequence[SavedView]:
        rows = await self._connection.fetch(f"select {self._schema}.list_views($1)", page)
        return [row_from_json(SavedView, row[0]) for row in rows]

    async def create(self, page: str, name: str, query: str, by: str) -> SavedView:
        """Raises Conflict if the page already has a view of this name."""
        return await self._one("put_view($1, $2, $3, $4)", page, name, query, by)

    async def change(self, view_id: UUID, *, name: str | None = None, query: str | None = None) -> SavedView:
        return await self._one("set_view($1, $2, $3)", view_id, name, query)

    async def delete(self, view_id: UUID) -> None:
        await self._connection.execute(f"select {self._schema}.delete_view($1)", view_id)

    async def _one(self, call: str, *arguments: object) -> SavedView:
        return row_from_json(
            SavedView, str(await self._connection.fetchval(f"select {self._schema}.{call}", *arguments))
        )
