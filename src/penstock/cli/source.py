"""`penstock source`: list the sources of a tenant, make its webhook, pause, resume, rotate and remove."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated
from uuid import UUID

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.product_session import DEFAULT, ProjectSlug, TenantSlug, stay
from penstock.cli.session import run
from penstock.intake.webhook_sources import Source, WebhookSecret, WebhookSources
from penstock.model import SourceId, TenantId

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

TheSource = Annotated[UUID, typer.Argument(metavar="SOURCE", help="Its source_id.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

LISTED = ("source_id", "kind", "project", "status", "created_at", "updated_at")


@group.command("list")
def list_sources(tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """A tenant's sources, the oldest first."""

    async def call() -> Sequence[Source]:
        async with stay() as here:
            return await here.product.webhooks.list(await here.tenant(tenant))

    rows = run(call())
    if as_json:
        output.document({"sources": [row.model_dump(mode="json") for row in rows]})
    else:
        output.records(LISTED, rows, empty="No sources: penstock source create makes the tenant's webhook.")


@group.command("create")
def create(
    project: ProjectSlug = DEFAULT, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Make the tenant's webhook and print the secret that signs its deliveries, once."""
    _show(_made(tenant, lambda webhooks, owner: webhooks.create(owner, project)), tenant, as_json=as_json)


@group.command("rotate")
def rotate(tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Give the webhook a new secret and print it, once; the one before stays good until the next rotation."""
    _show(_made(tenant, lambda webhooks, owner: webhooks.renew(owner)), tenant, as_json=as_json)


@group.command("pause")
def pause(source: TheSource, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Refuse a source's deliveries until it is resumed."""
    _change(tenant, lambda webhooks, owner: webhooks.pause(owner, SourceId(source)))
    output.document({"source_id": source, "status": "paused"}) if as_json else output.write("Paused.")


@group.command("resume")
def resume(source: TheSource, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Let a paused source take documents in again."""
    _change(tenant, lambda webhooks, owner: webhooks.resume(owner, SourceId(source)))
    output.document({"source_id": source, "status": "active"}) if as_json else output.write("Resumed.")


@group.command("remove")
def remove(
    source: TheSource, yes: Yes = False, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Remove a source and its secrets for good; the documents that came by it stay."""
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise typer.BadParameter("this removes the source for good and asks first", param_hint="--yes")
        typer.confirm(f"Remove source {source}? Its documents stay.", abort=True)
    _change(tenant, lambda webhooks, owner: webhooks.remove(owner, SourceId(source)))
    output.document({"source_id": source, "removed": True}) if as_json else output.write("Removed.")


def _change(tenant: str, change: Callable[[WebhookSources, TenantId], Awaitable[None]]) -> None:
    async def call() -> None:
        async with stay() as here:
            await change(here.product.webhooks, await here.tenant(tenant))

    run(call())


def _made(tenant: str, make: Callable[[WebhookSources, TenantId], Awaitable[WebhookSecret]]) -> WebhookSecret:
    async def call() -> WebhookSecret:
        async with stay() as here:
            return await make(here.product.webhooks, await here.tenant(tenant))

    return run(call())


def _show(made: WebhookSecret, tenant: str, *, as_json: bool) -> None:
    path = f"/webhook/{tenant}"
    if as_json:
        output.document({"source_id": made.source_id, "secret": made.secret, "path": path})
        return
    output.write(made.secret)
    warn(
        f"Source {made.source_id} takes deliveries at {path}, signed with this secret. It is shown only once."
    )
