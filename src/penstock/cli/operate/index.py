"""`penstock index`: where vectors are, and the move from the old layout in Qdrant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, would
from penstock.cli.failures import warn
from penstock.cli.progress import phases
from penstock.cli.session import database, run
from penstock.errors import SettingInvalid
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.index.qdrant_state import QdrantState

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

COLUMNS = ("model", "collection", "points")
KNOWN = "select model, collection from search.vector_collections()"


@group.command("status")
def status(as_json: output.AsJson = False) -> None:
    """List the collections in Qdrant.

    With the model and the number of points of each.
    """
    if Settings().index == "pgvector":
        if as_json:
            output.document({"index": "pgvector"})
        else:
            output.write("Vectors are in Postgres; penstock doctor shows the version of pgvector.")
        return
    state = run(_state())
    if as_json:
        old = [one.name for one in state.old]
        output.document(
            {"index": "qdrant", "version": state.version, "collections": state.collections, "old": old}
        )
        return
    output.records(COLUMNS, state.collections, empty="No vector has been stored yet.")
    for name in state.deleted:
        warn(f"The collection {name} was deleted; index its documents again: penstock project reindex")
    if state.old:
        warn(f"{output.count(len(state.old), 'collection')} of the old layout left: penstock index move")


@group.command("move")
def move(dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Move points from the old layout to the current one.

    The old one had a collection per tenant and project; the current one has a collection per model.

    Workers and the API can keep running, and searches find everything meanwhile. If it is interrupted, run it
    again. A collection is dropped once all of its points are in their new place.
    """
    if Settings().index != "qdrant":
        raise SettingInvalid("PENSTOCK_INDEX", "it is pgvector, so there is nothing to move in Qdrant")
    if dry_run:
        left = run(_state()).old
        would(
            f"move {output.count(len(left), 'collection')} of the old layout",
            as_json=as_json,
            count=len(left),
            collections=[one.name for one in left],
        )
        return
    moved = run(_move())
    if as_json:
        output.document({"dry_run": False, "moved": moved})
        return
    copied, left_out = sum(one["copied"] for one in moved), sum(one["left_out"] for one in moved)
    output.write(
        f"{output.count(len(moved), 'collection')} moved: {output.count(copied, 'point')} written,"
        f" {left_out} of deleted documents left out."
    )


async def _state() -> QdrantState:
    from penstock.index.qdrant_state import look

    settings = Settings()
    async with _runtime(settings) as pool, pool.all_tenants() as connection:
        known = {row["model"]: row["collection"] for row in await connection.fetch(KNOWN)}
    address = settings.qdrant_url or ""
    return await look(address, settings.qdrant_api_key, settings.qdrant_timeout_seconds, known)


async def _move() -> list[dict[str, Any]]:
    from penstock.index import open_index
    from penstock.index.qdrant import QdrantIndex

    settings = Settings()
    moved: list[dict[str, Any]] = []
    async with _runtime(settings) as pool:
        index = open_index(settings, pool)
        assert isinstance(index, QdrantIndex)
        try:
            mover = index.mover
            left = await mover.old.look()
            with phases() as progress:
                for place, one in enumerate(left, 1):
                    title = f"collection {place} of {len(left)}"
                    total = await mover.old.points(one).count()
                    seen = 0

                    def show(number: int, title: str = title, total: int = total) -> None:
                        nonlocal seen
                        seen = min(seen + number, total)
                        progress(title, seen, total)

                    done = await mover.move(one, show)
                    moved.append({"collection": one.name, "copied": done.copied, "left_out": done.left_out})
        finally:
            await index.close()
    return moved


@asynccontextmanager
async def _runtime(settings: Settings) -> AsyncIterator[TenantPool]:
    """Connections of the runtime login to a migrated database."""
    from penstock.db.addresses import prepare
    from penstock.db.migrator import assert_migrated
    from penstock.db.reach import reaching
    from penstock.db.tenancy import TenantPool

    if settings.qdrant_url is None:
        raise SettingInvalid("PENSTOCK_QDRANT_URL", "PENSTOCK_INDEX is qdrant, but no address is set")
    async with database(settings) as addresses:
        with reaching(addresses.runtime):
            if addresses.embedded is not None:
                await prepare(addresses)
            pool = await TenantPool.open(addresses.runtime, application_name="penstock index", size=2)
            try:
                async with pool.all_tenants() as connection:
                    await assert_migrated(connection, folders=addresses.folders)
                yield pool
            finally:
                await pool.close()
