"""`penstock tenant key`: create, list and revoke API keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, cast
from uuid import UUID

import typer

from penstock.accounts import ApiKey, NewKey, Scope
from penstock.accounts.rows import SCOPES
from penstock.cli import completion, output
from penstock.cli.auditing import audited_for
from penstock.cli.confirmation import DryRun, would
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, accounts_of_operators, accounts_with_pool
from penstock.model import KeyId
from penstock.model.rows import plain

keys = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Create, list and revoke API keys.")

Slug = Annotated[str, typer.Argument(metavar="TENANT", autocompletion=completion.tenants)]
Owner = Annotated[
    str,
    typer.Argument(metavar="TENANT", help="The tenant's slug.", autocompletion=completion.tenants),
]
KeyName = Annotated[str, typer.Option("--name", help="What the key is for.")]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope", help=f"What the key may do; may be repeated: {', '.join(SCOPES)}. Default: admin."
    ),
]
Days = Annotated[
    int | None, typer.Option("--expires-in-days", min=1, max=36_500, help="Days until the key expires.")
]
TheKey = Annotated[UUID, typer.Argument(metavar="KEY", help="The key's id (key_id).")]

KEYS = ("key_id", "name", "prefix", "scopes", "created_at", "expires_at", "revoked_at", "used_at")


@keys.command("create")
def create_key(
    tenant: Owner = DEFAULT,
    name: KeyName = "created by penstock tenant key create",
    scope: Scopes = None,
    expires_in_days: Days = None,
    as_json: output.AsJson = False,
) -> None:
    """Create a key and print its secret.

    The secret is shown only once: the database keeps only a hash of it.
    """
    until = None if expires_in_days is None else datetime.now(UTC) + timedelta(days=expires_in_days)

    async def call() -> NewKey:
        async with accounts_with_pool() as (accounts, pool):
            owner = await accounts.find_tenant(tenant)
            async with audited_for(pool, owner, "tenant key create", name) as facts:
                made = await accounts.create_key(
                    owner.tenant_id, name, cast("Sequence[Scope]", scope or ["admin"]), until
                )
                facts.update(key_id=str(made.key_id), scopes=made.scopes)
                return made

    made = run(call())
    if as_json:
        output.document(plain(made))
        return
    output.write(made.secret)
    warn(f"Key {made.key_id} of tenant {tenant}. Keep it: it is shown only once.")


@keys.command("list")
def list_keys(tenant: Owner = DEFAULT, as_json: output.AsJson = False) -> None:
    """List a tenant's keys, without their secrets."""

    async def call() -> list[ApiKey]:
        async with accounts_of_operators() as accounts:
            return await accounts.list_keys((await accounts.find_tenant(tenant)).tenant_id)

    rows = run(call())
    if as_json:
        output.document({"keys": [plain(row) for row in rows]})
    else:
        output.records(KEYS, rows, empty=f"No keys. To create one: penstock tenant key create {tenant}")


@keys.command("revoke")
def revoke_key(tenant: Slug, key_id: TheKey, dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Revoke a key at once."""

    async def call() -> list[ApiKey]:
        async with accounts_with_pool() as (accounts, pool):
            owner = await accounts.find_tenant(tenant)
            if dry_run:
                return [key for key in await accounts.list_keys(owner.tenant_id) if key.key_id == key_id]
            async with audited_for(pool, owner, "tenant key revoke", str(key_id)):
                await accounts.revoke_key(owner.tenant_id, KeyId(key_id))
            return []

    found = run(call())
    if dry_run:
        named = ", ".join(f"{key.name!r}, last used {key.used_at or 'never'}" for key in found)
        told = f"revoke {output.count(len(found), 'key')} of tenant {tenant}{named and ': '}{named}"
        would(told, as_json=as_json, count=len(found))
        return
    output.document({"key_id": key_id, "revoked": True}) if as_json else output.write("Revoked.")
