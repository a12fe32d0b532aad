"""`penstock key`: create, list and revoke keys of the whole installation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from penstock.accounts.installation_keys import (
    InstallationKey,
    NewInstallationKey,
    create_installation_key,
    list_installation_keys,
    revoke_installation_key,
)
from penstock.cli import output
from penstock.cli.auditing import audited, over
from penstock.cli.confirmation import DryRun, would
from penstock.cli.failures import warn
from penstock.cli.run.login import RoleName
from penstock.cli.session import operator, run
from penstock.cli.tenants.keys import Days, KeyName, TheKey
from penstock.model.rows import plain

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Chosen = Annotated[RoleName, typer.Option("--role", help="What a program with this key may do.")]

KEYS = ("key_id", "name", "prefix", "role", "created_at", "expires_at", "revoked_at", "used_at")


@group.command("create")
def create_key(
    role: Chosen = RoleName.VIEWER,
    name: KeyName = "created by penstock key create",
    expires_in_days: Days = None,
    as_json: output.AsJson = False,
) -> None:
    """Create a key of the whole installation and print its secret.

    A program with it may do what somebody signed in to the installation with this role may, in every
    tenant. The secret is shown only once: the database keeps only a hash of it.
    """
    until = None if expires_in_days is None else datetime.now(UTC) + timedelta(days=expires_in_days)

    async def call() -> NewInstallationKey:
        async with operator() as conn, audited(over(conn), "key create", name) as facts:
            made = await create_installation_key(conn, name, role.value, until)
            facts.update(key_id=str(made.key_id), role=made.role)
            return made

    made = run(call())
    if as_json:
        output.document(plain(made))
        return
    output.write(made.secret)
    warn(f"Key {made.key_id} of the installation, as {made.role}. Keep it: it is shown only once.")


@group.command("list")
def list_keys(as_json: output.AsJson = False) -> None:
    """List the installation's keys, without their secrets."""

    async def call() -> list[InstallationKey]:
        async with operator() as conn:
            return await list_installation_keys(conn)

    rows = run(call())
    if as_json:
        output.document({"keys": [plain(row) for row in rows]})
    else:
        output.records(KEYS, rows, empty="No keys. To create one: penstock key create --role operator")


@group.command("revoke")
def revoke_key(key_id: TheKey, dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Revoke a key of the installation at once."""

    async def call() -> list[InstallationKey]:
        async with operator() as conn:
            if dry_run:
                return [key for key in await list_installation_keys(conn) if key.key_id == key_id]
            async with audited(over(conn), "key revoke", str(key_id)):
                await revoke_installation_key(conn, key_id)
            return []

    found = run(call())
    if dry_run:
        named = ", ".join(f"{key.name!r}, last used {key.used_at or 'never'}" for key in found)
        told = f"revoke {output.count(len(found), 'key')} of the installation{named and ': '}{named}"
        would(told, as_json=as_json, count=len(found))
        return
    output.document({"key_id": key_id, "revoked": True}) if as_json else output.write("Revoked.")
