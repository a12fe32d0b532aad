"""What a process of a Ray node keeps between shards: an open engine and its event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import cache
from typing import Any, Literal
from uuid import UUID

from penstock.db.connect import CONNECTION_LOST
from penstock.engine.engine import Engine
from penstock.engine.ray_cluster import LONGEST_TEXT, text_of_error
from penstock.errors import DatabaseUnreachable, PenstockError, SettingInvalid
from penstock.model import TenantId
from penstock.observe import configure
from penstock.pipeline.bulk.shard_runner import ShardResult, ShardRunner
from penstock.settings import Settings


class RayNode:
    """Ray runs one task at a time in a process, so one loop is enough; it ends with the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._runner: ShardRunner | None = None

    def run(self, tenant_id: TenantId, run_id: UUID, shard: int, holder: str) -> dict[str, Any]:
        return self._loop.run_until_complete(answer_of(self._run(tenant_id, run_id, shard, holder)))

    async def _run(self, tenant_id: TenantId, run_id: UUID, shard: int, holder: str) -> ShardResult:
        if self._runner is None:
            self._runner = await _open()
        return await self._runner.run(tenant_id, run_id, shard, holder)


async def answer_of(running: Awaitable[ShardResult]) -> dict[str, Any]:
    """Counts, or the error as text: an exception of ours need not be known where it arrives."""
    try:
        result = await running
    except PenstockError as error:
        return {_kind(error): str(error)[:LONGEST_TEXT]}
    except Exception as error:  # noqa: BLE001  # the driver decides whether to try again
        return {_kind(error): text_of_error(error)}
    return {
        "outcome": result.outcome,
        "seconds": result.seconds,
        "indexed": result.indexed,
        "failed": result.failed,
    }


def _kind(error: Exception) -> Literal["cut_off", "error"]:
    """Whether this node lost the database, also while it opened its engine. A login that was refused is no
    outage, and an OSError with a filename is about a file."""
    cause = error.__cause__ if isinstance(error, DatabaseUnreachable) else error
    if not isinstance(cause, CONNECTION_LOST) or getattr(cause, "filename", None) is not None:
        return "error"
    return "error" if isinstance(cause, ValueError) else "cut_off"  # an argument that cannot be encoded


@cache
def node() -> RayNode:
    configure("warning", "json")
    return RayNode()


async def _open() -> ShardRunner:
    settings = Settings()
    if settings.database_url is None and not (settings.data_dir / "pgdata").exists():
        raise SettingInvalid(
            "PENSTOCK_DATABASE_URL",
            "this Ray node has no database; set it and the other PENSTOCK settings in the node's environment",
        )
    engine = Engine(settings)
    await engine.open()  # never closed: its processes end with this one
    return await engine.shard_runner()
