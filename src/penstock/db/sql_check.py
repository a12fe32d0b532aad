"""Checks SQL files by applying them to a temporary Postgres."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import asyncpg

from penstock.db.connect import connect
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.migrator import migrate
from penstock.db.sql_folders import SqlFolder
from penstock.db.types import Connection
from penstock.errors import SqlFileFailed, SqlFolderInvalid, SqlRulesBroken
from penstock.sql import SqlTree
from penstock.sql.file_rules import complaints


class Scratch:
    """A temporary server for one check; `with Scratch() as url`."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="penstock-check-"))
        self._folder.chmod(0o755)
        self._server = EmbeddedServer(self._folder, {"fsync": "off", "shared_buffers": "16MB"})

    def __enter__(self) -> str:
        try:
            self._server.start()
        except BaseException:
            self.__exit__()
            raise
        return self._server.url()

    def __exit__(self, *_: object) -> None:
        self._server.destroy()
        shutil.rmtree(self._folder, ignore_errors=True)


async def check_tree(url: str, tree: SqlTree) -> list[str]:
    """Apply Penstock's own SQL, then each object again with function bodies checked."""
    connection = await connect(url, timeout=60)
    try:
        await migrate(connection, tree)
        return await _bodies(connection, tree)
    finally:
        await connection.close()


async def check_folders(url: str, folders: Sequence[SqlFolder]) -> list[str]:
    """What is wrong with the user's own folders: per file as written, per file as applied, and as a whole."""
    found = [f"{folder.root}/{said}" for folder in folders for said in complaints(folder.tree, folder.root)]
    connection = await connect(url, timeout=60)
    try:
        await migrate(connection, folders=folders)
        for folder in folders:
            found += [f"{folder.root}/{said}" for said in await _bodies(connection, folder.tree)]
    except SqlRulesBroken as broken:
        found += broken.complaints
    except SqlFileFailed as failed:
        place = failed.path if failed.line is None else f"{failed.path}, line {failed.line}"
        found.append(f"{place}: {failed.reason}")
    except SqlFolderInvalid as invalid:
        found.append(invalid.message)
    finally:
        await connection.close()
    return found


async def _bodies(connection: Connection, tree: SqlTree) -> list[str]:
    """Errors in function bodies, checked now that everything they refer to exists."""
    found = []
    await connection.execute("set check_function_bodies = on")
    for file in tree.objects:
        try:
            async with connection.transaction():
                await connection.execute(file.text)
        except asyncpg.PostgresError as error:
            found.append(f"{file.path}: {error}")
    return found
