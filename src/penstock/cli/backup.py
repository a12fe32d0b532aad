"""`penstock backup`: the database, the originals and the vault's key, to a folder or an archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.progress import phases
from penstock.cli.session import database, run
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.backup import Manifest

TargetPath = Annotated[
    Path,
    typer.Argument(metavar="TARGET", help="A new folder, or an archive by its name: .tar, .tar.gz or .tgz."),
]
WithoutKey = Annotated[
    bool, typer.Option("--without-key", help="Leave the vault's key out; keep it somewhere else yourself.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an older backup of this name.")]


def command(
    target: TargetPath, without_key: WithoutKey = False, force: Force = False, as_json: output.AsJson = False
) -> None:
    """Back up the database, the originals and the vault's key together.

    It runs while workers do, and appears when it is whole. Originals in a bucket stay there; the backup lists
    them with their sizes and etags, and a restore compares. Needs PENSTOCK_ADMIN_URL to be a superuser or to
    have BYPASSRLS.
    """
    from penstock.backup import back_up_all

    settings = Settings()
    path = target.absolute()

    async def call() -> Manifest:
        async with database(settings) as addresses:
            with phases() as progress:
                return await back_up_all(
                    addresses, settings, path, with_key=not without_key, force=force, progress=progress
                )

    made = run(call())
    if as_json:
        output.document({"target": str(path), **made.model_dump(mode="json")})
    else:
        _show(target, made)
    if made.missing:
        first = made.missing[0]
        warn(
            f"warning: {len(made.missing)} originals are missing or damaged in the store, the first is "
            f"{first}. Restore them from an older backup, or upload those documents again."
        )
        raise typer.Exit(1)


def _show(target: Path, made: Manifest) -> None:
    what = "originals" if made.blobs == "copied" else f"originals listed, which stay in {made.blob_store}"
    output.write(f"{target}: database {made.database_bytes:,} bytes, {made.blob_count:,} {what}")
    if made.gone:
        output.write(f"{len(made.gone)} originals were deleted while it ran and are left out.")
    if made.vault_key:
        warn("It contains the vault's key: who can read it can open every stored secret. Keep it private.")
    elif made.vault_key_ids:
        warn(
            "It does not contain the vault's key. Without that key no stored secret can be opened: "
            "keep vault.key or PENSTOCK_VAULT_KEY yourself."
        )
    if made.index == "qdrant":
        warn("Vectors in Qdrant are not in it; after a restore run: penstock project reindex.")
