"""Restores a backup: checks it, then restores the key and the originals, and the database last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.backup.blob_copies import hash_of, is_stored, look_up, matches, store, stored_paths
from penstock.backup.manifest import (
    BLOB_FOLDER,
    BLOB_LIST,
    DATABASE,
    VAULT_KEY,
    BlobEntry,
    Manifest,
    read_entries,
    read_manifest,
)
from penstock.blobs.store import Blobs
from penstock.db.addresses import Addresses
from penstock.db.backup import require_room, restore
from penstock.db.dump_schema import check_dump
from penstock.errors import DatabaseNewer, InvalidArgument
from penstock.settings import Settings
from penstock.sql import load
from penstock.vault.configured_keys import existing_keys, key_file
from penstock.vault.keys import read_keys

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored; `unopened_keys` encrypted some of its secrets and are missing here."""

    manifest: Manifest
    blobs_written: int
    unopened_keys: tuple[str, ...]


def check_backup(folder: Path, progress: Progress) -> Manifest:
    """Read all of a backup and compare it with its manifest."""
    manifest = read_manifest(folder)
    if (folder / DATABASE).is_file():
        check_dump(folder / DATABASE)
    if manifest.schema_version > load().version:
        raise DatabaseNewer(manifest.schema_version, load().version)
    for name, digest in ((DATABASE, manifest.database_sha256), (BLOB_LIST, manifest.blob_list_sha256)):
        if not (folder / name).is_file() or hash_of(folder / name) != digest:
            raise _damaged(name)
    if manifest.vault_key and not (folder / VAULT_KEY).is_file():
        raise _damaged(VAULT_KEY)
    if manifest.blobs == "copied":
        for done, entry in enumerate(read_entries(folder / BLOB_LIST)):
            progress("check", done, manifest.blob_count)
            if not matches(folder / BLOB_FOLDER / entry.path, entry):
                raise _damaged(f"{BLOB_FOLDER}/{entry.path}")
    return manifest


async def restore_all(
    addresses: Addresses, settings: Settings, folder: Path, *, force: bool, progress: Progress
) -> Restored:
    """Restore everything; can be repeated after a crash: the database comes last, in one transaction."""
    manifest = await asyncio.to_thread(check_backup, folder, progress)
    await require_room(addresses, replace=force)
    blobs = Blobs.open(settings)
    entries = list(read_entries(folder / BLOB_LIST))
    if manifest.blobs == "copied":
        if not force:
            await _refuse_other_blobs(blobs, entries)
        _restore_key(settings, folder, manifest)
        written = await _copy_back(blobs, folder, entries, progress)
    else:
        await _compare_bucket(blobs, manifest, entries, force=force, progress=progress)
        _restore_key(settings, folder, manifest)
        written = 0
    progress("database", 0, None)
    await restore(addresses, folder / DATABASE, replace=force)
    here = existing_keys(settings)
    known = () if here is None else here.ids
    return Restored(manifest, written, tuple(key for key in manifest.vault_key_ids if key not in known))


def _restore_key(settings: Settings, folder: Path, manifest: Manifest) -> None:
    if not manifest.vault_key:
        return
    given = read_keys((folder / VAULT_KEY).read_text(), VAULT_KEY)
    file = key_file(settings)
    if file is not None:
        file.add_all(given)
        return
    here = existing_keys(settings)
    if any(key.key_id not in (() if here is None else here.ids) for key in given):
        raise InvalidArgument(
            "PENSTOCK_VAULT_KEY lacks a key of the backup, so its secrets could not be decrypted",
            "PENSTOCK_VAULT_KEY",
            f"Append the keys of {folder / VAULT_KEY} to it, with a comma between them",
        )


async def _refuse_other_blobs(blobs: Blobs, entries: list[BlobEntry]) -> None:
    """Reject a store with other originals; this backup's own may be there from an interrupted restore."""
    ours = {entry.path for entry in entries}
    async for path in stored_paths(blobs):
        if path not in ours:
            raise InvalidArgument(
                f"the blob store is not empty: {path} is not part of this backup",
                "PENSTOCK_BLOB_URL",
                "Name an empty folder or bucket, or add --force to keep what is there",
            )


async def _copy_back(blobs: Blobs, folder: Path, entries: list[BlobEntry], progress: Progress) -> int:
    written = 0
    for done, entry in enumerate(entries):
        progress("originals", done, len(entries))
        if await is_stored(blobs, entry):
            continue
        await store(blobs, entry, folder / BLOB_FOLDER / entry.path)
        written += 1
    return written


async def _compare_bucket(
    blobs: Blobs, manifest: Manifest, entries: list[BlobEntry], *, force: bool, progress: Progress
) -> None:
    """The originals stayed in their bucket: check that each is there and unchanged."""
    absent = []
    for done, entry in enumerate(entries):
        progress("originals", done, len(entries))
        found = await look_up(blobs, entry.path)
        if found is None or found[0] != entry.size or (entry.etag and found[1] and found[1] != entry.etag):
            absent.append(entry.path)
    if absent and not force:
        raise InvalidArgument(
            f"{len(absent)} of {len(entries)} originals are missing or changed in the store, compared with "
            f"{manifest.blob_store}, the first is {absent[0]}",
            "PENSTOCK_BLOB_URL",
            f"Set PENSTOCK_BLOB_URL to {manifest.blob_store} or a copy of it; --force restores without them",
        )


def _damaged(name: str) -> InvalidArgument:
    return InvalidArgument(
        f"the backup is damaged: {name} is missing or does not match the manifest",
        "source",
        "Use another backup",
    )
