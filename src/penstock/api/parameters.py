"""Parameters shared by several calls, with their limits and descriptions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query

from penstock.accounts import Caller
from penstock.api.identity import Needs

Reader = Annotated[Caller, Depends(Needs("documents:read"))]
Writer = Annotated[Caller, Depends(Needs("documents:write"))]
Searcher = Annotated[Caller, Depends(Needs("search"))]
ProjectWriter = Annotated[Caller, Depends(Needs("projects:write"))]
Operator = Annotated[Caller, Depends(Needs("operate"))]
Admin = Annotated[Caller, Depends(Needs("admin"))]

Document = Annotated[UUID, Path(alias="document_id", description="The document's id.")]
ProjectSlug = Annotated[str, Path(alias="slug", max_length=63, pattern="^[a-z0-9][a-z0-9-]*$")]
Wait = Annotated[
    float | None,
    Query(
        ge=0,
        le=60,
        allow_inf_nan=False,
        description="Wait up to this many seconds until the document is indexed, skipped or failed.",
    ),
]
Cursor = Annotated[str | None, Query(max_length=200, description="The `cursor` of the previous page.")]
Limit = Annotated[int, Query(ge=1, le=1_000, description="Maximum items per page.")]
NamePart = Annotated[
    str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description="Part of the name.")
]
States = Annotated[
    str | None,
    Query(
        max_length=200,
        pattern="^[a-z_,! ]*$",
        description="Only these states, separated by commas; `!` before one excludes it.",
    ),
]
