"""`penstock restore`: restores a backup made by penstock backup, or only checks it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.failures import warn
from penstock.cli.progress import phases
from penstock.cli.session import database, has_database, run
from penstock.db.backup import contents_of, require_room
from penstock.settings import Settings

SourcePath = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="The folder or archive written by penstock backup.")
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace the existing database, and continue if originals are missing."),
]
CheckOnly = Annotated[bool, typer.Option("--check", help="Only check that the backup is complete.")]


def command(
    source: SourcePath,
    force: Force = False,
    check: CheckOnly = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Restore the database, the original files and the vault key from a backup.

    The database and the blob store must be empty, unless you add --force; it then says what is replaced, and
    asks first. The database is filled last, in one
    transaction: an interrupted restore can simply be run again.
    """
    from penstock.backup import Manifest, Restored, check_backup, restore_all
    from penstock.backup.source import open_backup

    found: Manifest
    settings = Settings()
    path = source.absolute()
    scratch = settings.data_dir.absolute()

    if check:
        with phases() as progress, open_backup(path, Path(tempfile.gettempdir())) as folder:
            found = check_backup(folder, progress)
        if as_json:
            output.document({"source": str(path), "whole": True, **found.model_dump(mode="json")})
        else:
            output.write(f"{source}: complete, from {found.created_at:%Y-%m-%d %H:%M} UTC")
        return

    async def look() -> tuple[int, int]:
        """How many tenants and documents would be replaced; a database is not created for it."""
        if not has_database(settings):
            return 0, 0
        async with database(settings) as addresses:
            await require_room(addresses, replace=force)
            return await contents_of(addresses)

    if dry_run:
        with phases() as progress, open_backup(path, Path(tempfile.gettempdir())) as folder:
            found = check_backup(folder, progress)
        tenants, documents = run(look())
        verb = f"replace {_held(tenants, documents)} by" if tenants else "restore"
        made = f"the backup of {found.created_at:%Y-%m-%d %H:%M} UTC"
        what = f"{verb} {made} with {output.count(found.blob_count, 'original')}"
        would(what, as_json=as_json, count=documents, tenants=tenants, blobs=found.blob_count)
        return

    async def call() -> Restored:
        with open_backup(path, scratch) as folder:
            async with database(settings, create=True) as addresses:
                tenants, documents = await contents_of(addresses) if force else (0, 0)
                if tenants:
                    held = _held(tenants, documents)
                    confirm(f"replace {held} by the backup {source}", yes=yes, as_json=as_json)
                with phases() as progress:
                    return await restore_all(addresses, settings, folder, force=force, progress=progress)

    done = run(call())
    if as_json:
        output.document(
            {
                "source": str(path),
                "restored": True,
                "blobs": done.manifest.blob_count,
                "blobs_written": done.blobs_written,
                "vault_key": done.manifest.vault_key,
                "unopened_keys": done.unopened_keys,
            }
        )
    else:
        output.write(
            f"Restored {source}: the database and {output.count(done.manifest.blob_count, 'original')}."
        )
    if done.unopened_keys:
        warn(
            f"warning: secrets encrypted with the vault key {', '.join(done.unopened_keys)} cannot "
            f"be decrypted. Put that key into {settings.data_dir}/vault.key or PENSTOCK_VAULT_KEY."
        )
    if done.manifest.parameters:
        tokens = output.count(done.manifest.parameters, "refresh token")
        warn(
            f"Not in the backup: {tokens} in the AWS Parameter Store. penstock doctor says whether it can be "
            "reached; a source whose token is gone there has to be connected again."
        )
    if done.manifest.index == "qdrant":
        warn("Vectors in Qdrant are not part of a backup; run: penstock project reindex")


def _held(tenants: int, documents: int) -> str:
    return f"{output.count(documents, 'document')} of {output.count(tenants, 'tenant')}"
