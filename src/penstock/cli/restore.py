"""`penstock restore`: bring back what penstock backup wrote, or only check it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.progress import phases
from penstock.cli.session import database, run
from penstock.settings import Settings

SourcePath = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="The folder or archive that penstock backup wrote.")
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace the database that is there, and go on without lost originals."),
]
CheckOnly = Annotated[bool, typer.Option("--check", help="Only read the backup and say whether it is whole.")]


def command(
    source: SourcePath, force: Force = False, check: CheckOnly = False, as_json: output.AsJson = False
) -> None:
    """Restore the database, the originals and the vault's key from a backup.

    Into an empty database and an empty blob store, unless --force. The database is filled last, in one
    transaction: a restore that was interrupted is run again.
    """
    from penstock.backup import Manifest, Restored, check_backup, restore_all
    from penstock.backup.source import open_backup

    settings = Settings()
    path = source.absolute()
    scratch = settings.data_dir.absolute()

    if check:
        with phases() as progress, open_backup(path, Path(tempfile.gettempdir())) as folder:
            found: Manifest = check_backup(folder, progress)
        if as_json:
            output.document({"source": str(path), "whole": True, **found.model_dump(mode="json")})
        else:
            output.write(f"{source}: whole, of {found.created_at:%Y-%m-%d %H:%M} UTC")
        return

    async def call() -> Restored:
        with open_backup(path, scratch) as folder:
            async with database(settings, create=True) as addresses:
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
        output.write(f"Restored {source}: the database and {done.manifest.blob_count:,} originals.")
    if done.unopened_keys:
        warn(
            f"warning: secrets sealed with the vault's key {', '.join(done.unopened_keys)} cannot be opened. "
            f"Put that key into {settings.data_dir}/vault.key or PENSTOCK_VAULT_KEY."
        )
    if done.manifest.index == "qdrant":
        warn("Vectors in Qdrant are not part of a backup; run: penstock project reindex.")
