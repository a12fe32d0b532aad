"""The overview over HTTP: stages, workers, sources that need somebody, and in words whether all is well."""

from __future__ import annotations

from fastapi import APIRouter, Request

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.looking import Watcher, looking
from penstock.engine.overview import Overview, look

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1")


@router.get("/overview", operation_id="overview")
async def overview(request: Request, caller: Watcher) -> Overview:
    """Show the way of documents stage by stage over the last hour, and what needs somebody."""
    price = engine_of(request).settings.embedding_price_per_million_tokens
    async with looking(request) as connection:
        return (await look(connection, price)).overview
