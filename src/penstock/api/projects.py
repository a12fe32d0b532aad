"""Projects: make them, change their settings, and index all their documents again."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Project, ProjectDeleted
from penstock.api.documents import Queued
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import product_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import ProjectSlug, ProjectWriter, Reader
from penstock.intake import Estimate
from penstock.pipeline.embed.registry import check_configured

router = APIRouter(route_class=GuardedRoute, tags=["Projects"], prefix="/v1/projects")

_Name = Annotated[Text, Field(min_length=1, max_length=200)]
_Word = Annotated[Text, Field(min_length=1, max_length=100)]


_Tokens = Annotated[int, Field(ge=16, le=8_192)]
_Overlap = Annotated[int, Field(ge=0, le=4_096)]
_TEXT_CONFIG = "english, german, simple, …"


class ProjectChanges(Body):
    """What may change about a project; documents follow when they are next indexed.

    Null gives chunk_tokens and chunk_overlap back to the embedder; the others must have a value.
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
    embedder: _Word | None = Field(default=None, description="The model; the installation's without it.")


class Reindex(Body):
    """With `estimate` nothing is started; with `embedder` the project moves to another model."""

    estimate: bool = False
    embedder: _Word | None = None


class Projects(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[Project]


@router.post("", status_code=201, operation_id="createProject")
async def create(request: Request, caller: ProjectWriter, body: NewProject) -> Project:
    """Make a project."""
    settings: dict[str, Any] = body.model_dump(exclude_none=True, exclude={"slug"})
    return await product_of(request).accounts.create_project(caller.tenant_id, body.slug, **settings)


@router.get("", operation_id="listProjects")
async def projects(request: Request, caller: Reader) -> Projects:
    """List the projects, with how many documents each has in each status."""
    return Projects(items=await product_of(request).accounts.list_projects(caller.tenant_id))


@router.get("/{slug}", operation_id="showProject")
async def project(request: Request, caller: Reader, slug: ProjectSlug) -> Project:
    """Show one project."""
    return await product_of(request).accounts.show_project(caller.tenant_id, slug)


@router.patch("/{slug}", operation_id="setProject")
async def change(request: Request, caller: ProjectWriter, slug: ProjectSlug, body: ProjectChanges) -> Project:
    """Change a project's settings; what is left away stays. Re-index the project to apply them to all."""
    changes: dict[str, Any] = body.model_dump(exclude_unset=True)
    return await product_of(request).accounts.set_project(caller.tenant_id, slug, **changes)


@router.delete("/{slug}", status_code=202, operation_id="deleteProject")
async def delete(
    request: Request,
    caller: ProjectWriter,
    slug: ProjectSlug,
    confirm: Annotated[str, Query(max_length=63, description="The slug: this cannot be undone.")] = "",
) -> ProjectDeleted:
    """Delete a project with all its documents.

    When this answers, no search finds them any more; the last of many follow in the background (`left`). The
    project `default` cannot be deleted.
    """
    return await product_of(request).accounts.delete_project(caller.tenant_id, slug, confirm=confirm)


@router.post(
    "/{slug}/reindex",
    status_code=202,
    response_model=Queued,
    responses={200: {"model": Estimate, "description": "What it would embed."}},
    operation_id="reindexProject",
)
async def reindex(
    request: Request,
    response: Response,
    caller: ProjectWriter,
    slug: ProjectSlug,
    body: Reindex | None = None,
) -> Any:
    """Index all documents of a project again, in the background; or only estimate what that would cost."""
    asked = body or Reindex()
    product = product_of(request)
    project = await product.accounts.show_project(caller.tenant_id, slug)
    if asked.embedder is not None:
        check_configured(asked.embedder, product.settings)
    # Also without an estimate: a model that is not there must be refused now and not by every document.
    embedder = await product.embedders.embedder(asked.embedder or project.embedder)
    if asked.estimate:
        estimate = await product.documents.estimate(caller.tenant_id, slug, embedder.model)
        return Response(estimate.model_dump_json(), media_type="application/json")
    task = await product.documents.reindex_project(caller.tenant_id, slug, embedder=asked.embedder)
    return Queued(task_id=task)
