"""Re-applies functions and views from their files, so that each object matches its file exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import asyncpg

from penstock.db.types import Connection
from penstock.sql import Kind, SqlFile

MISSING = (
    asyncpg.UndefinedObjectError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedColumnError,
)
"""A file that fails with one of these may need a later file first; it is tried again."""

SHAPE_CHANGED = (asyncpg.InvalidFunctionDefinitionError, asyncpg.InvalidTableDefinitionError)
"""`create or replace` rejects a changed return type, parameter name or column: drop the old object first."""


async def existing(connection: Connection, files: Sequence[SqlFile]) -> set[str]:
    """The paths whose object exists in the database; a migration may have dropped some."""
    rows = await connection.fetch(
        """
        select 'function' as kind, n.nspname, p.proname as name
        from pg_catalog.pg_proc as p
        join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = any($1)
        union all
        select 'view', n.nspname, c.relname
        from pg_catalog.pg_class as c
        join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = any($1) and c.relkind in ('v', 'm')
        """,
        sorted({file.schema for file in files}),
    )
    found = {(row["kind"], row["nspname"], row["name"]) for row in rows}
    return {file.path for file in files if (file.kind.value, file.schema, file.name) in found}


class ObjectApplier:
    """Applies changed files in passes until each finds its references; may recreate any view of `all_files`.

    `others` are files of other folders: their views are dropped when they block a change, and are recreated
    when those folders are applied.
    """

    def __init__(
        self, connection: Connection, all_files: Sequence[SqlFile], others: Sequence[SqlFile] = ()
    ) -> None:
        self._connection = connection
        self._views = [file for file in all_files if file.kind is Kind.VIEW]
        self._others = [file for file in others if file.kind is Kind.VIEW]
        self.at: SqlFile | None = None
        """The file being applied, or the one that failed."""
        self._todo: dict[str, SqlFile] = {}
        self.applied: list[SqlFile] = []

    async def apply(self, files: Iterable[SqlFile]) -> None:
        self._todo = {file.path: file for file in files}
        while self._todo:
            last_error: Exception | None = None
            missing: SqlFile | None = None
            progressed = False
            for file in list(self._todo.values()):
                if file.path not in self._todo:
                    continue
                self.at = file
                try:
                    async with self._connection.transaction():
                        await self._apply_one(file)
                except MISSING as error:
                    last_error, missing = error, file
                    error.add_note(f"while applying {file.path}")
                except Exception as error:
                    error.add_note(f"while applying {file.path}")
                    raise
                else:
                    progressed = True
                    self._todo.pop(file.path, None)
                    self.applied = [other for other in self.applied if other.path != file.path] + [file]
            if not progressed and last_error is not None:
                self.at = missing
                raise last_error

    async def drop(self, path: str) -> None:
        """Drop the object of a file that no longer exists."""
        parts = path.removesuffix(".sql").split("/")
        if len(parts) != 3:
            return
        schema, folder, name = parts
        if folder == "functions":
            for oid in await _routines(self._connection, schema, name):
                await self._drop_routine(oid)
        elif folder == "views":
            await self._connection.execute(f'drop view if exists "{schema}"."{name}" cascade')

    async def _apply_one(self, file: SqlFile) -> None:
        before = await self._oids(file)
        try:
            async with self._connection.transaction():
                await self._connection.execute(file.text)
        except SHAPE_CHANGED:
            if file.kind is Kind.VIEW:
                await self._drop_views()
            else:
                for oid in before:
                    await self._drop_routine(oid)
            await self._connection.execute(file.text)
        after = await self._oids(file)
        if file.kind is Kind.FUNCTION and set(after) - set(before):
            # A new signature created a second function of that name: an unwanted overload.
            for oid in set(before) & set(after):
                await self._drop_routine(oid)

    async def _oids(self, file: SqlFile) -> list[int]:
        return await _routines(self._connection, file.schema, file.name) if file.kind is Kind.FUNCTION else []

    async def _drop_routine(self, oid: int) -> None:
        name = await self._connection.fetchval("select $1::oid::regprocedure::text", oid)
        try:
            async with self._connection.transaction():
                await self._connection.execute(f"drop routine {name}")
        except asyncpg.DependentObjectsStillExistError:
            # Views are recreated from their files. The second try reports anything else that depends on it.
            await self._drop_views()
            await self._connection.execute(f"drop routine {name}")

    async def _drop_views(self) -> None:
        await drop_views(self._connection, [*self._others, *self._views])
        self._todo.update({view.path: view for view in self._views})


async def drop_views(connection: Connection, views: Iterable[SqlFile]) -> None:
    for view in views:
        if await _view_exists(connection, view.schema, view.name):
            await connection.execute(f'drop view "{view.schema}"."{view.name}" cascade')


async def _routines(connection: Connection, schema: str, name: str) -> list[int]:
    rows = await connection.fetch(
        """
        select p.oid::bigint
        from pg_catalog.pg_proc as p
        join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = $1 and p.proname = $2
        """,
        schema,
        name,
    )
    return [row["oid"] for row in rows]


async def _view_exists(connection: Connection, schema: str, name: str) -> bool:
    found = await connection.fetchval(
        """
        select true
        from pg_catalog.pg_class as c
        join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname = $2 and c.relkind in ('v', 'm')
        """,
        schema,
        name,
    )
    return found is True
