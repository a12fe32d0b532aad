"""Originals in a folder and in a bucket: written, read, listed and removed alike."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.blobs.spool import MEMORY_BYTES, spool
from penstock.blobs.store import Blobs
from penstock.errors import NotFound, SettingInvalid
from penstock.settings import Settings
from tests.plugins.database import Database
from tests.plugins.documents import works_on

LARGE = b"penstock " * (MEMORY_BYTES // 4)


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 65_536):
        yield content[start : start + 65_536]


async def _read(blobs: Blobs, path: str) -> bytes:
    return b"".join([piece async for piece in await blobs.read(path)])


@pytest.mark.parametrize("content", [b"small", LARGE], ids=["in memory", "in a file"])
@pytest.mark.parametrize("kind", ["folder", "bucket"])
async def test_a_blob_is_read_back_as_it_was_written_and_can_be_removed_twice(
    kind: str, content: bytes, tmp_path: Path, bucket: str
) -> None:
    blobs = Blobs.open(_settings(kind, tmp_path, bucket))
    async with spool(_pieces(content), limit=10**9) as spooled:
        await blobs.write("documents/one.txt", spooled)
    assert await _read(blobs, "documents/one.txt") == content
    assert [path async for paths in blobs.listed() for path in paths] == ["documents/one.txt"]
    assert await blobs.has("documents/one.txt")
    await blobs.probe()
    await blobs.delete("documents/one.txt")
    await blobs.delete("documents/one.txt")
    assert not await blobs.has("documents/one.txt")
    with pytest.raises(NotFound, match="Restore it from a backup"):
        await blobs.read("documents/one.txt")


async def test_documents_live_in_a_bucket_by_setting(database: Database, tmp_path: Path, bucket: str) -> None:
    async with (
        works_on(database, tmp_path, blob_url="s3://originals/acme", s3_endpoint=bucket) as works,
        works.working(),
    ):
        document = await works.index("The bucket holds the water.", "note.txt")
        content = await works.engine.documents.content(works.tenant_id, document.document_id)
        assert b"".join([piece async for piece in content.stream]) == b"The bucket holds the water."
        assert not (tmp_path / "blobs").exists()


def test_an_unknown_kind_of_blob_url_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="PENSTOCK_BLOB_URL"):
        Blobs.open(Settings(data_dir=tmp_path, blob_url="ftp://example.com/x"))


def _settings(kind: str, folder: Path, endpoint: str) -> Settings:
    if kind == "folder":
        return Settings(data_dir=folder)
    return Settings(data_dir=folder, blob_url="s3://originals/acme", s3_endpoint=endpoint)
