"""`penstock project`: make, list, change and delete projects, and index one again."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock.accounts import Project, ProjectDeleted
from penstock.cli import output
from penstock.cli.product_session import DEFAULT, TenantSlug, stay
from penstock.cli.reindexing import Reindex, reindex
from penstock.cli.session import run
from penstock.intake import Estimate

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Slug = Annotated[str, typer.Argument(metavar="PROJECT")]
AnyName = Annotated[str | None, typer.Option(help="What people call it.")]
EmbedderName = Annotated[
    str | None, typer.Option("--embedder", metavar="MODEL", help="See penstock model list.")
]
TextConfig = Annotated[
    str | None, typer.Option("--text-config", metavar="NAME", help="Text-search configuration, as german.")
]
Strategy = Annotated[
    str | None, typer.Option("--chunk-strategy", help="structure, paragraph, sentence or fixed.")
]
Tokens = Annotated[
    int | None, typer.Option("--chunk-tokens", help="Largest chunk; the embedder's if not given.")
]
Overlap = Annotated[
    int | None, typer.Option("--chunk-overlap", help="Tokens a chunk shares with the one before.")
]
EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Only say what it would embed, and what is cached.")
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until all is indexed again.")]

LISTED = (
    "slug",
    "name",
    "embedder",
    "next_embedder",
    "text_config",
    "chunk_strategy",
    "chunk_tokens",
    "documents",
)


@group.command("create")
def create(
    slug: Slug,
    name: AnyName = None,
    embedder: EmbedderName = None,
    text_config: TextConfig = None,
    chunk_strategy: Strategy = None,
    chunk_tokens: Tokens = None,
    chunk_overlap: Overlap = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Make a project: a collection of documents with one embedder and settings of its own."""

    async def call() -> Project:
        async with stay(create=True) as here:
            return await here.product.accounts.create_project(
                await here.tenant(tenant, create=True),
                slug,
                name,
                embedder=embedder,
                text_config=text_config or "english",
                chunk_strategy=chunk_strategy or "structure",
                chunk_tokens=chunk_tokens,
                chunk_overlap=chunk_overlap,
            )

    _show(run(call()), as_json=as_json)


@group.command("list")
def list_projects(tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """A tenant's projects with how many documents each has, by status."""

    async def call() -> list[Project]:
        async with stay() as here:
            return await here.product.accounts.list_projects(await here.tenant(tenant))

    rows = run(call())
    if as_json:
        output.document({"projects": [row.model_dump(mode="json") for row in rows]})
        return
    counted = [[*(getattr(row, name) for name in LISTED[:-1]), _counted(row.documents)] for row in rows]
    output.table(LISTED, counted, empty="No projects.")


@group.command("set")
def set_project(
    slug: Slug,
    name: AnyName = None,
    text_config: TextConfig = None,
    chunk_strategy: Strategy = None,
    chunk_tokens: Tokens = None,
    chunk_overlap: Overlap = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Change what is named; documents follow when they are indexed again (penstock project reindex)."""
    given = {
        "name": name,
        "text_config": text_config,
        "chunk_strategy": chunk_strategy,
        "chunk_tokens": chunk_tokens,
        "chunk_overlap": chunk_overlap,
    }
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        raise typer.BadParameter("name what to change", param_hint="--name, --text-config, …")

    async def call() -> Project:
        async with stay() as here:
            return await here.product.accounts.set_project(await here.tenant(tenant), slug, **changes)

    _show(run(call()), as_json=as_json)


@group.command("reindex")
def reindex_project(
    slug: Slug = DEFAULT,
    embedder: EmbedderName = None,
    estimate: EstimateOnly = False,
    wait: Wait = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Index every document again; with another embedder beside the live one, until all flip at once."""
    if estimate:
        figures = run(_estimate(slug, embedder, tenant))
        if as_json:
            output.document(figures.model_dump(mode="json"))
        else:
            output.facts(figures.model_dump(mode="json"))
            left = figures.tokens - figures.cached_tokens
            output.write(f"It would embed about {left:,} tokens; the rest is cached.")
        return

    async def call() -> Reindex:
        async with stay() as here:
            owner = await here.tenant(tenant)
            if embedder is not None:
                await here.product.embedders.embedder(embedder)  # refuses one that is not ready
            return await reindex(here, owner, slug, embedder, wait=wait, quiet=as_json)

    show_reindex(run(call()), as_json=as_json)


@group.command("delete")
def delete_project(
    slug: Slug,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Delete a project with all its documents; it names how many and asks first."""

    async def look() -> Project:
        async with stay() as here:
            return await here.product.accounts.show_project(await here.tenant(tenant), slug)

    async def call() -> ProjectDeleted:
        async with stay() as here:
            owner = await here.tenant(tenant)
            await here.declare()
            return await here.product.accounts.delete_project(owner, slug, confirm=found.slug)

    found = run(look())
    count = sum(found.documents.values())
    told = f"project {found.slug!r} with {count} document{'' if count == 1 else 's'}"
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise typer.BadParameter(f"this deletes {told} and asks first", param_hint="--yes")
        typer.confirm(f"Delete {told}? This cannot be undone.", abort=True)
    gone = run(call())
    if as_json:
        output.document(gone.model_dump(mode="json"))
    elif gone.left:
        output.write(f"Deleted {told}; task {gone.task_id} removes the last {gone.left}.")
    else:
        output.write(f"Deleted {told}.")


async def _estimate(slug: str, embedder: str | None, tenant: str) -> Estimate:
    async with stay() as here:
        owner = await here.tenant(tenant)
        name = embedder or (await here.product.accounts.show_project(owner, slug)).embedder
        model = (await here.product.embedders.embedder(name)).model
        return await here.product.documents.estimate(owner, slug, model)


def show_reindex(done: Reindex, *, as_json: bool) -> None:
    project = done.project
    if as_json:
        output.document(
            {"task_id": done.task_id, "waited": done.waited, "project": project.model_dump(mode="json")}
        )
    elif done.waited:
        output.write(f"{project.slug} is indexed with {project.embedder}: {_counted(project.documents)}.")
    else:
        output.write(f"Task {done.task_id} does it; penstock project list shows how far it is.")


def _counted(documents: dict[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in documents.items() if count) or "no documents"


def _show(project: Project, *, as_json: bool) -> None:
    found = project.model_dump(mode="json")
    output.document(found) if as_json else output.facts(found)
