"""The kinds of sources that can be added, and what is missing for the others."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.parameters import Reader
from penstock.sources.kinds import SourceKind, source_kinds

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")


class SourceKinds(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[SourceKind]


@router.get("/source-kinds", operation_id="listSourceKinds")
async def kinds(request: Request, caller: Reader) -> SourceKinds:
    """List the kinds of sources: how each is added, and what the operator has to set first."""
    del caller
    engine = engine_of(request)
    return SourceKinds(items=source_kinds(engine.providers, engine.settings))
