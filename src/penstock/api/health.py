"""Tells orchestrators and Prometheus how this process is: alive, ready, and in figures."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from penstock.api.identity import product_of
from penstock.observe import CONTENT_TYPE, Metrics, get_logger

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


@router.get("/metrics", operation_id="metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    known: Metrics = request.app.state.metrics
    return Response(await asyncio.to_thread(known.render), headers={"Content-Type": CONTENT_TYPE})
