"""The parameters several calls share, each with its limits and a word for /docs."""

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
Admin = Annotated[Caller, Depends(Needs("admin"))]

Document = Annotated[UUID, Path(alias="document_id", description="The document's id.")]
ProjectSlug = Annotated[str, Path(alias="slug", max_length=63, pattern="^[a-z0-9][a-z0-9-]*$")]
Wait = Annotated[
    float | None,
    Query(
        ge=0,
        le=60,
        allow_inf_nan=False,
        description="Wait up to so many seconds until the document is settled.",
    ),
]
Cursor = Annotated[
    str | None, Query(max_length=200, description="Where the page begins: `cursor` of the page before.")
]
Limit = Annotated[int, Query(ge=1, le=1_000, description="The most items of a page.")]
