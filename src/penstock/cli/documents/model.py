"""`penstock model`: list and install embedding models, and switch a project to another one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSlug, tenant_session
from penstock.cli.tenants.project import show_reindex
from penstock.cli.tenants.reindexing import ReindexOutcome, reindex
from penstock.embed.local.minilm_install import install_minilm
from penstock.embed.registry import known_models
from penstock.errors import InvalidArgument
from penstock.settings import Settings

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Model name; see penstock model list.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the project uses the new model.")]

LISTED = ("name", "dimensions", "max_tokens", "is_remote", "is_ready", "remedy")


@group.command("list")
def list_models(as_json: output.AsJson = False) -> None:
    """List models, and what each needs before it can be used."""
    rows = known_models(Settings())
    if as_json:
        output.document({"models": [asdict(row) for row in rows]})
    else:
        output.records(LISTED, rows, empty="No models.")


@group.command("install")
def install(name: Name, as_json: output.AsJson = False) -> None:
    """Download, verify and build a local model.

    If any step fails, nothing is installed.
    """
    if name == "wordllama":
        folder = None  # its weights come with the package
    elif name == "minilm":
        folder = install_minilm(Settings(), lambda step: None if as_json else warn(f"{name}: {step}"))
    else:
        raise InvalidArgument(
            f"{name!r} cannot be installed",
            "name",
            "Use minilm; remote models only need an API key",
        )
    if as_json:
        output.document({"name": name, "installed": True, "folder": None if folder is None else str(folder)})
    else:
        output.write(f"{name} is ready" + (f" in {folder}." if folder else "; it comes with Penstock."))


@group.command("use")
def use(
    name: Name,
    project: ProjectSlug = DEFAULT,
    tenant: TenantSlug = DEFAULT,
    wait: Wait = True,
    as_json: output.AsJson = False,
) -> None:
    """Switch a project to another embedding model.

    Every document is embedded again in the background; searches use the old model until all documents are
    ready, then switch at once.
    """

    async def call() -> ReindexOutcome:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="model use", target=name)
            await session.engine.embedders.embedder(name)  # raises an error if it is not ready
            return await reindex(session, owner, project, name, wait=wait, quiet=as_json)

    show_reindex(run(call()), as_json=as_json)
