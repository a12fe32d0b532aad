"""Tells orchestrators and Prometheus how this process is: alive, ready, and in figures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from penstock.api.identity import product_of
from penstock.db.migrator import assert_migrated
from penstock.observe import CONTENT_TYPE, Metrics, get_logger
from penstock.sql import SqlTree, load

log = get_logger(__name__)

router = APIRouter(tags=["Operate"])

_SECONDS = 5.0


class Health(BaseModel):
    model_config = ConfigDict(frozen=True)

    status: str


class Readiness(BaseModel):
    """Each check by name: `ok`, or what is wrong."""

    model_config = ConfigDict(frozen=True)

    status: str
    checks: dict[str, str]


@router.get("/healthz", operation_id="health")
async def health() -> Health:
    """Is the process alive? Asks nobody else."""
    return Health(status="ok")


@router.get(
    "/readyz", operation_id="readiness", responses={503: {"model": Readiness, "description": "Not ready."}}
)
async def readiness(request: Request, response: Response) -> Readiness:
    """Can it work: is the database reachable and migrated, can the blob store be written?"""
    product = product_of(request)

    async def database() -> None:
        async with product.app.transaction() as connection:
            await connection.fetchval("select 1")

    async def schema() -> None:
        async with product.app.transaction() as connection:
            await assert_migrated(connection, _tree())

    checks = {
        "database": await _checked("database", database),
        "schema": await _checked("schema", schema),
        "blobs": await _checked("blobs", product.blobs.probe),
    }
    ready = all(found == "ok" for found in checks.values())
    response.status_code = 200 if ready else 503
    return Readiness(status="ok" if ready else "not ready", checks=checks)


@cache
def _tree() -> SqlTree:
    return load()


async def _checked(name: str, check: Callable[[], Awaitable[None]]) -> str:
    """`ok`, or which kind of thing went wrong; where and how is for the log, not for strangers."""
    try:
        async with asyncio.timeout(_SECONDS):
            await check()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        log.throttled("not_ready", key=name, error=error)
        return type(error).__name__
    return "ok"


@router.get("/metrics", operation_id="metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    known: Metrics = request.app.state.metrics
    return Response(await asyncio.to_thread(known.render), headers={"Content-Type": CONTENT_TYPE})
