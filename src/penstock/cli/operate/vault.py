"""`penstock vault`: show the master keys of the vault, rotate them, forget old ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import output
from penstock.cli.auditing import audited
from penstock.cli.confirmation import DryRun, would
from penstock.cli.failures import warn
from penstock.cli.progress import phases
from penstock.cli.session import database, run
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.vault.rotation import Plan, Rotated, Rotation, VaultKey

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

COLUMNS = ("key_id", "state", "secrets", "oldest", "newest", "rotating_since", "rotated_at", "kms_key_id")


@group.command("status")
def status(as_json: output.AsJson = False) -> None:
    """List the master keys and how many secrets they protect."""

    async def call() -> list[VaultKey]:
        async with rotation() as (calls, _):
            return await calls.status()

    keys = run(call())
    if as_json:
        output.document({"keys": keys})
        return
    output.records(COLUMNS, keys, empty="No master keys, and no secrets.")
    for key in keys:
        if key.state == "removable":
            warn(f"No secret needs {key.key_id} any more: penstock vault forget-key {key.key_id}")
        if key.state == "missing":
            warn(
                f"{output.count(key.secrets, 'secret')} cannot be read: the key {key.key_id} is missing here."
            )


@group.command("rotate")
def rotate(
    dry_run: DryRun = False,
    new_key: Annotated[
        bool,
        typer.Option("--new-key", help="Make a new key even if some secrets are not under the first one."),
    ] = False,
    as_json: output.AsJson = False,
) -> None:
    """Switch to a new master key.

    The data key of every secret is encrypted with it.

    Workers and the API can keep running. If a rotation was interrupted, or you put a new key first yourself,
    this finishes it without making another key. The old key stays until you forget it.
    """

    async def plan() -> Plan:
        async with rotation() as (calls, _):
            return await calls.plan(new_key=new_key)

    async def call() -> Rotated:
        async with rotation() as (calls, pool), audited(pool.all_tenants, "vault rotate") as facts:
            with phases() as progress:
                made = await calls.rotate(
                    lambda done, total: progress("secrets", done, total), new_key=new_key
                )
            facts.update(
                key_id=made.key_id,
                new_key=made.new_key,
                count=made.rewrapped,
                unreadable=len(made.unreadable),
            )
            return made

    if dry_run:
        _show_plan(run(plan()), as_json=as_json)
        return
    made = run(call())
    if as_json:
        output.document({"dry_run": False, "rotation": made})
    else:
        _show(made)
    if made.unreadable:
        warn(
            f"warning: {output.count(len(made.unreadable), 'secret')} could not be rewrapped, the first is"
            f" {made.unreadable[0]}. Add the key that is missing (penstock vault status) and run this again."
        )
        raise typer.Exit(1)


@group.command("forget-key")
def forget_key(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID")],
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Delete a master key that no secret uses.

    Older backups still need it.
    """

    async def look() -> list[VaultKey]:
        async with rotation() as (calls, _):
            return [key for key in await calls.status() if key.key_id == key_id]

    if dry_run:
        found = run(look())
        needed = sum(key.secrets for key in found)
        told = (
            f"forget {output.count(len(found), 'key')}: {key_id}, needed by {output.count(needed, 'secret')}"
        )
        would(told, as_json=as_json, count=len(found), secrets=needed)
        return

    async def call() -> bool:
        async with rotation() as (calls, pool), audited(pool.all_tenants, "vault forget-key", key_id):
            return await calls.forget(key_id)

    forgotten = run(call())
    if as_json:
        output.document({"key_id": key_id, "forgotten": forgotten})
        return
    output.write(f"The key {key_id} {'is forgotten' if forgotten else 'was forgotten before'}.")
    if Settings().vault_key is not None:
        warn("If PENSTOCK_VAULT_KEY still contains it, remove it there.")


@asynccontextmanager
async def rotation() -> AsyncIterator[tuple[Rotation, TenantPool]]:
    """The operator's calls for the vault's keys, on a migrated database, and the operator's connections."""
    from penstock.db.addresses import prepare
    from penstock.db.migrator import assert_migrated
    from penstock.db.reach import reaching
    from penstock.engine.operator_access import operator_pool
    from penstock.vault.key_ring import KeyRing
    from penstock.vault.rotation import Rotation

    settings = Settings()
    async with database(settings) as addresses:
        with reaching(addresses.admin):
            if addresses.embedded is not None:
                await prepare(addresses)
        async with operator_pool(addresses, settings) as pool:
            with reaching(addresses.operator):
                async with pool.all_tenants() as conn:
                    await assert_migrated(conn, folders=addresses.folders)
                yield Rotation(KeyRing.from_settings(settings, addresses.operator), pool), pool


def _show_plan(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        output.document({"dry_run": True, "new_key": plan.new_key, "secrets": plan.secrets})
        return
    what = "make a new key" if plan.new_key else "go on with the first key"
    output.write(
        f"A rotation would {what} and rewrap the data keys of {output.count(plan.secrets, 'secret')}."
    )


def _show(made: Rotated) -> None:
    key = f"the {'new' if made.new_key else 'first'} key {made.key_id}"
    output.write(f"Secrets are encrypted with {key}; {output.count(made.rewrapped, 'data key')} rewrapped.")
    for key_id in made.removable:
        output.write(f"No secret needs {key_id} any more: penstock vault forget-key {key_id}")
