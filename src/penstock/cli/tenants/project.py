"""`penstock project`: create, list, show, change, re-index and delete projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from penstock.accounts import Project, ProjectDeleted
from penstock.cli import completion, output
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.cli.tenants import gate
from penstock.cli.tenants.reindexing import ReindexOutcome, reindex
from penstock.documents.rows import Estimate
from penstock.model.rows import plain

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
group.add_typer(gate.group, name="gate", help="Questions a re-index must pass to go live.")

NewSlug = Annotated[str, typer.Argument(metavar="PROJECT")]
Slug = Annotated[str, typer.Argument(metavar="PROJECT", autocompletion=completion.projects)]
AnyName = Annotated[str | None, typer.Option(help="Display name.")]
EmbedderName = Annotated[
    str | None,
    typer.Option("--embedder", metavar="MODEL", help="Embedding model; see penstock model list."),
]
TextConfig = Annotated[
    str | None,
    typer.Option("--text-config", metavar="NAME", help="Postgres text-search configuration, such as german."),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--chunk-strategy",
        help="How documents are split into chunks: structure, paragraph, sentence or fixed.",
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option("--chunk-tokens", help="Maximum tokens per chunk; default: what the embedder takes."),
]
Overlap = Annotated[
    int | None, typer.Option("--chunk-overlap", help="Tokens that each chunk repeats from the one before.")
]
EstimateOnly = Annotated[
    bool,
    typer.Option("--estimate", help="Only show how many tokens would be embedded and how many are cached."),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every document is indexed again.")]

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
    slug: NewSlug,
    name: AnyName = None,
    embedder: EmbedderName = None,
    text_config: TextConfig = None,
    chunk_strategy: Strategy = None,
    chunk_tokens: Tokens = None,
    chunk_overlap: Overlap = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Create a project.

    A project is a collection of documents with its own embedder and settings.
    """

    async def call() -> Project:
        options: Mapping[str, Any] = {
            "embedder": embedder,
            "text_config": text_config or "english",
            "chunk_strategy": chunk_strategy or "structure",
            "chunk_tokens": chunk_tokens,
            "chunk_overlap": chunk_overlap,
        }
        async with tenant_session(create=True) as session:
            accounts = session.engine.accounts
            await accounts.check_project(slug, **options)
            owner = await session.tenant(tenant, create=True, change="project create", target=slug)
            return await accounts.create_project(owner, slug, name, **options)

    _show(run(call()), as_json=as_json)


@group.command("list")
def list_projects(tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """List a tenant's projects, with their documents by status."""

    async def call() -> list[Project]:
        async with tenant_session() as session:
            return await session.engine.accounts.list_projects(await session.tenant(tenant))

    rows = run(call())
    if as_json:
        output.document({"projects": [plain(row) for row in rows]})
        return
    counted = [[*(getattr(row, name) for name in LISTED[:-1]), _counted(row.documents)] for row in rows]
    output.table(LISTED, counted, empty="No projects.")


@group.command("show")
def show_project(slug: Slug, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Show one project, with what waits at its gate."""

    async def call() -> Project:
        async with tenant_session() as session:
            return await session.engine.accounts.show_project(await session.tenant(tenant), slug)

    _show(run(call()), as_json=as_json)


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
    """Change a project's settings.

    Existing documents use them once they are re-indexed (penstock project reindex).
    """
    given = {
        "name": name,
        "text_config": text_config,
        "chunk_strategy": chunk_strategy,
        "chunk_tokens": chunk_tokens,
        "chunk_overlap": chunk_overlap,
    }
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        raise typer.BadParameter("nothing to change", param_hint="--name, --text-config, …")

    async def call() -> Project:
        async with tenant_session() as session:
            return await session.engine.accounts.set_project(
                await session.tenant(tenant, change="project set", target=slug), slug, **changes
            )

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
    """Index every document of a project again.

    With another embedder, searches use the old index until the new one is complete.
    """
    if estimate:
        figures = run(_estimate(slug, embedder, tenant))
        if as_json:
            output.document(plain(figures))
        else:
            output.facts(plain(figures))
            left = figures.tokens - figures.cached_tokens
            output.write(f"About {left:,} tokens would be embedded; the rest is cached.")
        return

    async def call() -> ReindexOutcome:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="project reindex", target=slug)
            if embedder is not None:
                await session.engine.embedders.embedder(embedder)  # raises an error if it is not ready
            return await reindex(session, owner, slug, embedder, wait=wait, quiet=as_json)

    show_reindex(run(call()), as_json=as_json)


@group.command("delete")
def delete_project(
    slug: Slug,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Delete a project with all its documents.

    It shows how many there are and asks for confirmation first.
    """

    async def look() -> Project:
        async with tenant_session() as session:
            return await session.engine.accounts.show_project(await session.tenant(tenant), slug)

    async def call() -> ProjectDeleted:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="project delete", target=slug)
            await session.declare()
            return await session.engine.accounts.delete_project(owner, slug, confirm=found.slug)

    found = run(look())
    count = sum(found.documents.values())
    told = f"project {found.slug!r} with {count} document{'' if count == 1 else 's'}"
    if dry_run:
        would(f"delete {told}", as_json=as_json, count=count, project=found.slug)
        return
    confirm(f"delete {told}", yes=yes, as_json=as_json, is_usage=True)
    gone = run(call())
    if as_json:
        output.document(plain(gone))
    elif gone.left:
        output.write(f"Deleted {told}; task {gone.task_id} is deleting the remaining {gone.left}.")
    else:
        output.write(f"Deleted {told}.")


async def _estimate(slug: str, embedder: str | None, tenant: str) -> Estimate:
    async with tenant_session() as session:
        owner = await session.tenant(tenant)
        name = embedder or (await session.engine.accounts.show_project(owner, slug)).embedder
        model = (await session.engine.embedders.embedder(name)).model
        return await session.engine.documents.estimate(owner, slug, model)


def show_reindex(done: ReindexOutcome, *, as_json: bool) -> None:
    project = done.project
    if as_json:
        output.document({"task_id": done.task_id, "waited": done.waited, "project": plain(project)})
    elif done.waited:
        output.write(f"{project.slug} is indexed with {project.embedder}: {_counted(project.documents)}.")
    else:
        output.write(f"Task {done.task_id} is re-indexing it; see penstock project list for progress.")


def _counted(documents: dict[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in documents.items() if count) or "no documents"


def _show(project: Project, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(project))
        return
    output.facts(plain(project, without=("gate",)))
    if project.gate is not None:
        output.write("\nGate:")
        output.facts(gate.facts_of(project.gate))
