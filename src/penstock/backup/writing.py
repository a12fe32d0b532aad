"""Writes a backup: a consistent dump, its originals, the vault's key, and the manifest last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from penstock.backup.blob_copies import hash_of, look_up
from penstock.backup.manifest import (
    BLOB_FOLDER,
    BLOB_LIST,
    DATABASE,
    MANIFEST,
    VAULT_KEY,
    BlobEntry,
    Manifest,
    write_entries,
)
from penstock.backup.target import BackupTarget, open_target
from penstock.blobs.store import Blobs
from penstock.db.addresses import Addresses
from penstock.db.backup import DumpSnapshot, still_known, take_snapshot
from penstock.errors import NotFound
from penstock.settings import Settings
from penstock.vault.configured_keys import existing_keys

Progress = Callable[[str, int, int | None], None]
"""Called with the current step, the amount done, and the total if known."""


async def back_up_all(
    addresses: Addresses, settings: Settings, path: Path, *, with_key: bool, force: bool, progress: Progress
) -> Manifest:
    """Write everything to a folder or archive that appears once complete; workers may keep running."""
    blobs = Blobs.open(settings)
    with open_target(path, force=force) as target:
        snapshot = await take_snapshot(
            addresses, target.work / DATABASE, lambda size: progress("database", size, None)
        )
        dump = target.work / DATABASE
        size, digest = dump.stat().st_size, hash_of(dump)
        target.keep(DATABASE)
        copies = _Copies(blobs, target, progress)
        await copies.copy(snapshot)
        gone, missing = await copies.sort_absent(addresses)
        write_entries(target.work / BLOB_LIST, copies.entries)
        list_digest = hash_of(target.work / BLOB_LIST)
        target.keep(BLOB_LIST)
        keys = existing_keys(settings)
        if with_key and keys is not None:
            target.keep_text(VAULT_KEY, keys.text)
        manifest = Manifest(
            penstock_version=version("penstock"),
            schema_version=snapshot.schema_version,
            created_at=datetime.now(UTC),
            database_bytes=size,
            database_sha256=digest,
            blobs="copied" if blobs.local_folder is not None else "listed",
            blob_store="folder" if blobs.local_folder is not None else str(settings.blob_url),
            blob_count=len(copies.entries),
            blob_bytes=sum(entry.size for entry in copies.entries),
            blob_list_sha256=list_digest,
            gone=gone,
            missing=missing,
            vault_key=with_key and keys is not None,
            vault_key_ids=() if keys is None else keys.ids,
            parameters=snapshot.parameters,
            index=settings.index,
        )
        target.keep_text(MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    return manifest


class _Copies:
    """Copies the originals of a snapshot, or lists them if they stay in their bucket."""

    def __init__(self, blobs: Blobs, target: BackupTarget, progress: Progress) -> None:
        self._blobs = blobs
        self._target = target
        self._progress = progress
        self.entries: list[BlobEntry] = []
        self._absent: list[str] = []
        self._damaged: list[str] = []

    async def copy(self, snapshot: DumpSnapshot) -> None:
        for done, (path, size, sha256) in enumerate(snapshot.blobs):
            self._progress("originals", done, len(snapshot.blobs))
            if self._blobs.local_folder is None:
                await self._list(path, size, sha256)
            else:
                await self._copy(path, sha256)

    async def _list(self, path: str, size: int, sha256: str) -> None:
        found = await look_up(self._blobs, path)
        if found is None:
            self._absent.append(path)
        elif found[0] != size:
            self._damaged.append(path)
        else:
            self.entries.append(BlobEntry(path=path, size=size, sha256=sha256, etag=found[1]))

    async def _copy(self, path: str, sha256: str) -> None:
        try:
            size, digest = await self._target.keep_stream(
                f"{BLOB_FOLDER}/{path}", await self._blobs.read(path)
            )
        except NotFound:
            self._absent.append(path)
            return
        if digest != sha256:
            self._damaged.append(path)
        self.entries.append(BlobEntry(path=path, size=size, sha256=digest))

    async def sort_absent(self, addresses: Addresses) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Which missing originals were deleted meanwhile, and which the store should have."""
        live = await still_known(addresses, self._absent)
        gone = tuple(path for path in self._absent if path not in live)
        return gone, tuple(sorted((*live, *self._damaged)))
