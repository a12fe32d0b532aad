"""`penstock source`: list a tenant's sources; pause, resume or remove them; create and rotate its webhook."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

import typer

from penstock.cli import completion, output
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSlug, tenant_session
from penstock.cli.tenants import (
    source_configuring,
    source_connecting,
    source_deciding,
    source_passwords,
    source_syncing,
)
from penstock.model import SourceId, TenantId
from penstock.model.rows import plain
from penstock.sources.sources import Source, Sources
from penstock.sources.webhook.webhook_source import WebhookSecret, WebhookSources

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for _command in (
    source_connecting.connect,
    source_connecting.disconnect,
    source_syncing.add,
    source_syncing.show,
    source_syncing.sync,
    source_syncing.schedule,
    source_configuring.configure,
    source_deciding.skipped,
    source_deciding.restore,
    source_deciding.rules,
    source_passwords.set_password,
):
    group.command(_command.__name__.replace("_", "-"))(_command)

TheSource = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="The source's name, kind or id.", autocompletion=completion.sources
    ),
]

EMPTY = (
    "No sources. To connect one: penstock source connect hubspot; to read a folder: penstock source add "
    "folder PATH; to create the tenant's webhook: penstock source create"
)
LISTED = ("source_id", "kind", "name", "project", "status", "health", "synced_at")


@group.command("list")
def list_sources(tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """List a tenant's sources, oldest first."""

    async def call() -> Sequence[Source]:
        async with tenant_session() as session:
            return await session.engine.sources.list(await session.tenant(tenant))

    rows = run(call())
    if as_json:
        output.document({"sources": [plain(row) for row in rows]})
    else:
        shown = [
            [getattr(row, name) if name != "health" else row.health.state for name in LISTED] for row in rows
        ]
        output.table(LISTED, shown, empty=EMPTY)


@group.command("create")
def create(
    project: ProjectSlug = DEFAULT, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Create the tenant's webhook.

    It prints the secret that signs deliveries, which is shown only once.
    """
    _show(
        _made(tenant, "create", lambda webhooks, owner: webhooks.create(owner, project)),
        tenant,
        as_json=as_json,
    )


@group.command("rotate")
def rotate(tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Give the webhook a new secret.

    The secret is shown only once; the previous one is valid until the next rotation.
    """
    _show(_made(tenant, "rotate", lambda webhooks, owner: webhooks.renew(owner)), tenant, as_json=as_json)


@group.command("pause")
def pause(source: TheSource, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Stop a source's deliveries and syncs until it is resumed."""
    changed = _change(tenant, source, lambda sources, owner, found: sources.pause(owner, found), "pause")
    output.document({"source_id": changed, "status": "paused"}) if as_json else output.write("Paused.")


@group.command("resume")
def resume(source: TheSource, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Resume a paused source; one that is synced is synced now."""
    changed = _change(tenant, source, lambda sources, owner, found: sources.resume(owner, found), "resume")
    output.document({"source_id": changed, "status": "active"}) if as_json else output.write("Resumed.")


@group.command("remove")
def remove(
    source: TheSource,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Remove a source for good; its documents are kept."""
    told = f"remove source {source}; its documents are kept"
    if dry_run:
        found = _change(tenant, source, _leave)
        would(told, as_json=as_json, count=1, source_id=found)
        return
    confirm(told, yes=yes, as_json=as_json, is_usage=True)
    removed = _change(tenant, source, lambda sources, owner, found: sources.remove(owner, found), "remove")
    output.document({"source_id": removed, "removed": True}) if as_json else output.write("Removed.")


async def _leave(sources: Sources, owner: TenantId, found: SourceId) -> None:
    """What a dry run changes: nothing."""


def _change(
    tenant: str,
    source: str,
    change: Callable[[Sources, TenantId, SourceId], Awaitable[None]],
    verb: str | None = None,
) -> SourceId:
    async def call() -> SourceId:
        async with tenant_session() as session:
            called = None if verb is None else f"source {verb}"
            sources, owner = (
                session.engine.sources,
                await session.tenant(tenant, change=called, target=source),
            )
            found = (await sources.find(owner, source)).source_id
            await change(sources, owner, found)
            return found

    return run(call())


def _made(
    tenant: str, verb: str, make: Callable[[WebhookSources, TenantId], Awaitable[WebhookSecret]]
) -> WebhookSecret:
    async def call() -> WebhookSecret:
        async with tenant_session() as session:
            return await make(session.engine.webhooks, await session.tenant(tenant, change=f"source {verb}"))

    return run(call())


def _show(made: WebhookSecret, tenant: str, *, as_json: bool) -> None:
    path = f"/webhook/{tenant}"
    if as_json:
        output.document({"source_id": made.source_id, "secret": made.secret, "path": path})
        return
    output.write(made.secret)
    warn(
        f"Source {made.source_id} accepts deliveries at {path}, signed with this secret. It is "
        "shown only once."
    )
