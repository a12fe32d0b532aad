"""Health and metrics for orchestrators and Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from penstock.api.identity import engine_of
from penstock.db.migrator import assert_migrated
from penstock.db.sql_folders import SqlFolder, find_folders
from penstock.observe import CONTENT_TYPE, Metrics, get_logger
from penstock.sql import SqlTree, load

log = get_logger(__name__)

router = APIRouter(tags=["Operate"])

_SECONDS = 5.0


class Liveness(BaseModel):
    model_config = ConfigDict(frozen=True)

    status: str


class Readiness(BaseModel):
    """Each check by name: `ok`, or what is wrong."""

    model_config = ConfigDict(frozen=True)

    status: str
    checks: dict[str, str]


@router.get("/healthz", operation_id="health")
async def health() -> Liveness:
    """Report that the process is alive; nothing else is checked."""
    return Liveness(status="ok")


@router.get(
    "/readyz", operation_id="readiness", responses={503: {"model": Readiness, "description": "Not ready."}}
)
async def readiness(request: Request, response: Response) -> Readiness:
    """Report whether the database is reachable and migrated and the blob store is writable."""
    engine = engine_of(request)

    async def database() -> None:
        async with engine.tasks.transaction() as connection:
            await connection.fetchval("select 1")

    async def schema() -> None:
        async with engine.tasks.transaction() as connection:
            await assert_migrated(connection, _tree(), _folders(engine.settings.sql_dir))

    checks = {
        "database": await _checked("database", database),
        "schema": await _checked("schema", schema),
        "blobs": await _checked("blobs", engine.blobs.probe),
    }
    ready = all(found == "ok" for found in checks.values())
    response.status_code = 200 if ready else 503
    return Readiness(status="ok" if ready else "not ready", checks=checks)


@cache
def _tree() -> SqlTree:
    return load()


@cache
def _folders(sql_dir: Path | None) -> tuple[SqlFolder, ...]:
    return find_folders(sql_dir)


async def _checked(name: str, check: Callable[[], Awaitable[None]]) -> str:
    """`ok`, or the kind of error; details are logged, not shown to callers."""
    try:
        async with asyncio.timeout(_SECONDS):
            await check()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        log.throttled("not_ready", key=name, error=error)
        return type(error).__name__
    return "ok"


@router.get("/metrics", operation_id="metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Metrics in Prometheus format."""
    known: Metrics = request.app.state.metrics
    return Response(await asyncio.to_thread(known.render), headers={"Content-Type": CONTENT_TYPE})
