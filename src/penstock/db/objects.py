"""Functions and views re-applied from their files, so that each name means exactly what its file says."""

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
"""A file that fails so may need one that comes later; it gets another turn."""

SHAPE_CHANGED = (asyncpg.InvalidFunctionDefinitionError, asyncpg.InvalidTableDefinitionError)
"""`create or replace` refuses another return type, parameter name or column: the old object goes first."""


async def existing(connection: Connection, files: Sequence[SqlFile]) -> set[str]:
    """The paths among these whose object is in the database; a migration may have dropped some."""
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
    """Applies changed files in passes until each has what it refers to; may redo any view of `all_files`."""

    def __init__(self, connection: Connection, all_files: Sequence[SqlFile]) -> None:
        self._connection = connection
        self._views = [file for file in all_files if file.kind is Kind.VIEW]
        self._todo: dict[str, SqlFile] = {}
        self.applied: list[SqlFile] = []

    async def apply(self, files: Iterable[SqlFile]) -> None:
        self._todo = {file.path: file for file in files}
        while self._todo:
            last_error: Exception | None = None
            progressed = False
            for file in list(self._todo.values()):
                if file.path not in self._todo:
                    continue
                try:
                    async with self._connection.transaction():
                        await self._apply_one(file)
                except MISSING as error:
                    last_error = error
                    error.add_note(f"while applying {file.path}")
                except Exception as error:
                    error.add_note(f"while applying {file.path}")
                    raise
                else:
                    progressed = True
                    self._todo.pop(file.path, None)
                    self.applied = [other for other in self.applied if other.path != file.path] + [file]
            if not progressed and last_error is not None:
                raise last_error

    async def drop(self, path: str) -> None:
        """Drop what a file defined that is no longer there."""
        parts = path.removesuffix(".sql").split("/")
        if len(parts) != 3:
            return
        schema, folder, name = parts
        if folder == "functions":
            for oid in await _routines(self._connection, schema, name):
                await self._drop_routine(oid)
        else:
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
            # A new signature made a second function of the name: an overload nobody asked for.
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
            # Views come again from their files. Whatever else depends on it, the second try says.
            await self._drop_views()
            await self._connection.execute(f"drop routine {name}")

    async def _drop_views(self) -> None:
        for view in self._views:
            if await _view_exists(self._connection, view.schema, view.name):
                await self._connection.execute(f'drop view "{view.schema}"."{view.name}" cascade')
            self._todo[view.path] = view


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
