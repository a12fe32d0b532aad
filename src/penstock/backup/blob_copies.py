"""Copies originals between a blob store and a backup."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import obstore

from penstock.backup.manifest import BlobEntry
from penstock.blobs.store import Blobs
from penstock.errors import NotFound

PIECE = 1_048_576


async def look_up(blobs: Blobs, path: str) -> tuple[int, str | None] | None:
    """Size and etag of a blob without reading it; None if it does not exist."""
    try:
        meta = await obstore.head_async(blobs.store, path)
    except (obstore.exceptions.NotFoundError, FileNotFoundError):
        return None
    return meta["size"], meta["e_tag"]


async def stored_paths(blobs: Blobs) -> AsyncIterator[str]:
    """Every document's blob in the store."""
    async for batch in obstore.list(blobs.store, "documents/"):
        for meta in batch:
            yield meta["path"]


async def is_stored(blobs: Blobs, entry: BlobEntry) -> bool:
    """Whether the store has exactly this content."""
    found = await look_up(blobs, entry.path)
    if found is None or found[0] != entry.size:
        return False
    digest = hashlib.sha256()
    try:
        async for piece in await blobs.read(entry.path):
            digest.update(piece)
    except NotFound:
        return False
    return digest.hexdigest() == entry.sha256


async def store(blobs: Blobs, entry: BlobEntry, file: Path) -> None:
    """Write a blob back; synced to disk before it returns, like an upload."""
    await obstore.put_async(blobs.store, entry.path, file)
    await blobs.sync(entry.path)


def matches(file: Path, entry: BlobEntry) -> bool:
    """Whether a file of the backup matches its entry."""
    return file.is_file() and file.stat().st_size == entry.size and hash_of(file) == entry.sha256


def hash_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
