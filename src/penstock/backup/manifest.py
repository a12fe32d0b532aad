"""A backup's manifest; a folder or archive without one is not a complete backup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from penstock.errors import InvalidArgument
from penstock.errors.invalid_field import first_invalid

MANIFEST = "manifest.json"
DATABASE = "database.dump"
BLOB_LIST = "blobs.jsonl"
BLOB_FOLDER = "blobs"
VAULT_KEY = "vault.key"
BLOB_PATH = r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$"
"""Paths must not point outside the store, even in a forged list."""


class BlobEntry(BaseModel):
    """One original at the time of the backup; `etag` is the bucket's."""

    model_config = ConfigDict(frozen=True)

    path: Annotated[str, Field(pattern=BLOB_PATH)]
    size: int
    sha256: str
    etag: str | None = None


class Manifest(BaseModel):
    """Written last. `blobs` says whether the originals are in the backup or only listed (in a bucket)."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    penstock_version: str
    schema_version: int
    created_at: datetime
    database_bytes: int
    database_sha256: str
    blobs: Literal["copied", "listed"]
    blob_store: str
    blob_count: int
    blob_bytes: int
    blob_list_sha256: str
    gone: tuple[str, ...] = ()
    """Deleted during the backup; the deletion is repeated after a restore."""
    missing: tuple[str, ...] = ()
    """In the database, but missing in the store or changed."""
    vault_key: bool
    vault_key_ids: tuple[str, ...]
    parameters: int = 0
    """Secrets in AWS's Parameter Store, of which the backup has everything but the ciphertext."""
    index: str


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a complete backup; rejects anything else."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise InvalidArgument(
            "this is not a complete backup: it has no manifest.json",
            "source",
            "Name a folder or archive that penstock backup finished; one that was interrupted cannot be used",
        ) from None
    except ValidationError as error:
        wrong = first_invalid(error)
        raise InvalidArgument(
            f"its manifest.json cannot be read: {wrong.named('the file')}: {wrong.reason}",
            "source",
            "Use the release of Penstock that wrote it, or a newer one",
        ) from error


def write_entries(path: Path, entries: Iterable[BlobEntry]) -> None:
    with path.open("w") as file:
        for entry in entries:
            file.write(entry.model_dump_json() + "\n")


def read_entries(path: Path) -> Iterator[BlobEntry]:
    with path.open() as file:
        for line in file:
            yield BlobEntry.model_validate_json(line)
