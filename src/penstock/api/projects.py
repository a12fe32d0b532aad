"""Projects: create them, change their settings, and re-index their documents."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Project, ProjectDeleted
from penstock.api.documents import Queued
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import ProjectSlug, ProjectWriter, Reader
from penstock.documents.rows import Estimate
from penstock.embed.registry import check_configured
from penstock.model.pipeline_options import LARGEST_CHUNK, LARGEST_OVERLAP, SMALLEST_CHUNK
from penstock.model.rows import plain

router = APIRouter(route_class=GuardedRoute, tags=["Projects"], prefix="/v1/projects")

_Name = Annotated[Text, Field(min_length=1, max_length=200)]
_Word = Annotated[Text, Field(min_length=1, max_length=100)]


_Tokens = Annotated[int, Field(ge=SMALLEST_CHUNK, le=LARGEST_CHUNK)]
_Overlap = Annotated[int, Field(ge=0, le=LARGEST_OVERLAP)]
_TEXT_CONFIG = "english, german, simple, …"


class ProjectChanges(Body):
    """Settings of a project that can be changed; documents use them when they are next indexed.

    Null resets chunk_tokens and chunk_overlap to the embedder's defaults; the others must have a value.
    """

    name: _Name = Field(default_factory=str)
    text_config: _Word = Field(default_factory=str, description=_TEXT_CONFIG)
    chunk_strategy: _Word = Field(default_factory=str)
    chunk_tokens: _Tokens | None = None
    chunk_overlap: _Overlap | None = None


class NewProject(Body):
    slug: Annotated[Text, Field(pattern="^[a-z0-9][a-z0-9-]{0,62}$")]
    name: _Name | None = None
    text_config: _Word | None = Field(default=None, description=_TEXT_CONFIG)
    chunk_strategy: _Word | None = None
    chunk_tokens: _Tokens | None = None
    chunk_overlap: _Overlap | None = None
    embedder: _Word | None = Field(
        default=None, description=("The embedding model; default: the installation's.")
    )


class Reindex(Body):
    """With `estimate` nothing is started; with `embedder` the project switches to another model."""

    estimate: bool = False
    embedder: _Word | None = None


class Projects(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[Project]


@router.post("", status_code=201, operation_id="createProject")
async def create(request: Request, caller: ProjectWriter, body: NewProject) -> Project:
    """Create a project."""
    settings: dict[str, Any] = body.model_dump(exclude_none=True, exclude={"slug"})
    return await engine_of(request).accounts.create_project(caller.tenant_id, body.slug, **settings)


@router.get("", operation_id="listProjects")
async def projects(request: Request, caller: Reader) -> Projects:
    """List projects, with their documents by status."""
    return Projects(items=await engine_of(request).accounts.list_projects(caller.tenant_id))


@router.get("/{slug}", operation_id="showProject")
async def project(request: Request, caller: Reader, slug: ProjectSlug) -> Project:
    """Show one project."""
    return await engine_of(request).accounts.show_project(caller.tenant_id, slug)


@router.patch("/{slug}", operation_id="setProject")
async def change(request: Request, caller: ProjectWriter, slug: ProjectSlug, body: ProjectChanges) -> Project:
    """Change a project's settings; fields you leave out keep their value.

    Re-index the project to apply them to all documents.
    """
    changes: dict[str, Any] = body.model_dump(exclude_unset=True)
    return await engine_of(request).accounts.set_project(caller.tenant_id, slug, **changes)


@router.delete("/{slug}", status_code=202, operation_id="deleteProject")
async def delete(
    request: Request,
    caller: ProjectWriter,
    slug: ProjectSlug,
    confirm: Annotated[
        str, Query(max_length=63, description=("The slug, as confirmation: this cannot be undone."))
    ] = "",
) -> ProjectDeleted:
    """Delete a project with all its documents.

    After the response, searches no longer find them; if there are many, the remaining ones (`left`) are
    deleted in the background. The project `default` cannot be deleted.
    """
    return await engine_of(request).accounts.delete_project(caller.tenant_id, slug, confirm=confirm)


@router.post(
    "/{slug}/reindex",
    status_code=202,
    response_model=Queued,
    responses={200: {"model": Estimate, "description": "What would be embedded."}},
    operation_id="reindexProject",
)
async def reindex(
    request: Request,
    response: Response,
    caller: ProjectWriter,
    slug: ProjectSlug,
    body: Reindex | None = None,
) -> Any:
    """Re-index all documents of a project in the background, or only estimate the cost."""
    asked = body or Reindex()
    engine = engine_of(request)
    project = await engine.accounts.show_project(caller.tenant_id, slug)
    if asked.embedder is not None:
        check_configured(asked.embedder, engine.settings)
    # Also without an estimate: an unavailable model must be rejected now and not by every document.
    embedder = await engine.embedders.embedder(asked.embedder or project.embedder)
    if asked.estimate:
        estimate = await engine.documents.estimate(caller.tenant_id, slug, embedder.model)
        return JSONResponse(plain(estimate))
    task = await engine.documents.reindex_project(caller.tenant_id, slug, embedder=asked.embedder)
    return Queued(task_id=task)
