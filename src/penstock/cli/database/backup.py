"""`penstock backup`: backs up the database, the original files and the vault key to a folder or an
archive."""

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
    typer.Argument(metavar="TARGET", help="A new folder, or an archive ending in .tar, .tar.gz or .tgz."),
]
WithoutKey = Annotated[
    bool, typer.Option("--without-key", help="Leave out the vault key; keep it safe elsewhere.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing backup of this name.")]


def command(
    target: TargetPath, without_key: WithoutKey = False, force: Force = False, as_json: output.AsJson = False
) -> None:
    """Back up the database, the original files and the vault key together.

    Workers can keep running. The backup appears under its name once it is complete. Originals in a bucket
    stay there; the backup lists them with sizes and etags, and a restore compares them. PENSTOCK_ADMIN_URL
    must be a superuser or have BYPASSRLS.
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
            f"warning: {output.count(len(made.missing), 'original')} missing or damaged in the store, the "
            f"first is {first}. Restore them from an older backup, or upload those documents again."
        )
        raise typer.Exit(1)


def _show(target: Path, made: Manifest) -> None:
    originals = output.count(made.blob_count, "original")
    where = "" if made.blobs == "copied" else f" listed and left in {made.blob_store}"
    output.write(f"{target}: database {made.database_bytes:,} bytes, {originals}{where}")
    if made.gone:
        gone = output.count(len(made.gone), "original")
        output.write(f"Not in it: {gone} deleted during the backup.")
    if made.vault_key:
        warn(
            "The backup contains the vault key: anyone who can read it can decrypt every stored "
            "secret. Keep it private."
        )
    elif made.vault_key_ids:
        warn(
            "The backup does not contain the vault key, and stored secrets cannot be decrypted "
            "without it: keep a copy of vault.key or PENSTOCK_VAULT_KEY."
        )
    if (kms_key_id := Settings().vault_kms_key_id) is not None:
        warn(f"Secrets in the backup can be decrypted only with the AWS KMS key {kms_key_id}.")
    if made.parameters:
        tokens = output.count(made.parameters, "refresh token")
        warn(
            f"Not in the backup: {tokens} in the AWS Parameter Store. "
            "A source whose token is gone there after a restore has to be connected again."
        )
    if made.index == "qdrant":
        warn("Vectors in Qdrant are not in the backup; after a restore run: penstock project reindex")
