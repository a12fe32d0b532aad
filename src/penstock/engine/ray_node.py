"""What a process of a Ray node keeps between shards: an open engine and its event loop."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any
from uuid import UUID

from penstock.engine.engine import Engine
from penstock.errors import PenstockError, SettingInvalid
from penstock.model import TenantId
from penstock.observe import configure
from penstock.pipeline.bulk.shard_runner import ShardRunner
from penstock.settings import Settings


class RayNode:
    """Ray runs one task at a time in a process, so one loop is enough; it ends with the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._runner: ShardRunner | None = None

    def run(self, tenant_id: TenantId, run_id: UUID, shard: int, holder: str) -> dict[str, Any]:
        """Counts, or the error as text: an exception of ours need not be known where it arrives."""
        try:
            return self._loop.run_until_complete(self._run(tenant_id, run_id, shard, holder))
        except PenstockError as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001  # the driver decides whether to try again
            return {"error": f"{type(error).__name__}: {error}"}

    async def _run(self, tenant_id: TenantId, run_id: UUID, shard: int, holder: str) -> dict[str, Any]:
        if self._runner is None:
            self._runner = await _open()
        result = await self._runner.run(tenant_id, run_id, shard, holder)
        return {
            "outcome": result.outcome,
            "seconds": result.seconds,
            "indexed": result.indexed,
            "failed": result.failed,
        }


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
