"""Stores originals in a local folder or a bucket, through one interface."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import NotFoundError
from obstore.store import AzureStore, GCSStore, LocalStore, ObjectStore, S3Store, from_url

from penstock.blobs.spool import Spooled
from penstock.db.private_files import close_tree, ensure_private_dir
from penstock.errors import NotFound, PenstockError, SettingInvalid
from penstock.settings import Settings

if TYPE_CHECKING:
    import httpx2

READ_BYTES = 1_048_576
SIGNED_FOR = timedelta(minutes=5)
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
"""The error codes of S3, Google and Azure for a missing bucket."""


class SignedDeleteFailed(PenstockError):
    """Deleting a blob by a signed URL failed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The blob {path} was not deleted by a signed URL: {reason}",
            "Check that these credentials may delete in the bucket, or unset PENSTOCK_FILE_DELETE_SIGNED",
        )
        self.path = path
        self.reason = reason
        self.args = (path, reason)


class Blobs:
    """Write-once storage. A local blob is synced to disk before `write` returns, like a commit."""

    def __init__(self, store: ObjectStore, folder: Path | None = None) -> None:
        self._store = store
        self._folder = folder

    @property
    def store(self) -> ObjectStore:
        """The store itself, for backups."""
        return self._store

    @property
    def local_folder(self) -> Path | None:
        """The local folder; None for a bucket."""
        return self._folder

    @classmethod
    def open(cls, settings: Settings) -> Blobs:
        url = settings.blob_url
        if url is None or url.startswith("file://"):
            folder = (
                (settings.data_dir / "blobs").absolute() if url is None else Path(unquote(urlsplit(url).path))
            )
            ensure_private_dir(folder)
            if url is None:
                close_tree(folder)
            return cls(LocalStore(prefix=folder, mkdir=True), folder)
        options: dict[str, Any] = {}
        if settings.s3_endpoint is not None:
            options = {"endpoint": settings.s3_endpoint}
            if settings.s3_endpoint.startswith("http://"):
                options["client_options"] = {"allow_http": True}
        try:
            return cls(from_url(url, **options))
        except Exception as error:
            raise SettingInvalid("PENSTOCK_BLOB_URL", str(error).splitlines()[0]) from error

    async def write(self, path: str, spooled: Spooled) -> None:
        await obstore.put_async(self._store, path, spooled.source())
        await self.sync(path)

    async def sync(self, path: str) -> None:
        """Wait until a local blob is on disk."""
        if self._folder is not None:
            await asyncio.to_thread(_sync, self._folder / path)

    async def read(self, path: str) -> AsyncIterator[bytes]:
        """The blob in pieces; raises NotFound before the first piece if it does not exist."""
        try:
            got = await obstore.get_async(self._store, path)
        except (NotFoundError, FileNotFoundError):
            raise _missing(path) from None
        return _pieces(got)

    async def local(self, path: str, to: Path) -> Path:
        """A file with the blob's content, to read only: the blob itself if it is in a folder, or a copy."""
        if self._folder is None:
            await self.fetch(path, to)
            return to
        file = self._folder / path
        if not file.is_file():
            raise _missing(path)
        return file

    async def fetch(self, path: str, to: Path) -> None:
        """Copy a blob into a file."""
        stream = await self.read(path)
        with to.open("wb") as file:  # pieces go to the page cache, which does not block
            async for piece in stream:
                file.write(piece)

    async def delete(self, path: str) -> None:
        """Delete a blob. A missing blob is fine; a missing bucket is an error."""
        try:
            await obstore.delete_async(self._store, path)
        except (NotFoundError, FileNotFoundError) as missing:
            _check_bucket(str(missing))

    async def delete_by_signed_url(self, path: str, http_client: httpx2.AsyncClient) -> None:
        """Delete a blob by an HTTP request with a signed URL."""
        if not isinstance(self._store, S3Store | GCSStore | AzureStore):
            raise SettingInvalid(
                "PENSTOCK_FILE_DELETE_SIGNED", "a folder cannot sign URLs, only a bucket can"
            )
        url = await obstore.sign_async(self._store, "DELETE", path, expires_in=SIGNED_FOR)
        try:
            answer = await http_client.delete(url, follow_redirects=False)
        except Exception as error:  # noqa: BLE001  # of the network or of the address check
            # The error text may contain the URL with its signature.
            raise SignedDeleteFailed(path, type(error).__name__) from None
        if answer.status_code == 404:
            _check_bucket(answer.text)
        elif not answer.is_success:
            raise SignedDeleteFailed(path, f"the store answered {answer.status_code}")

    async def listed(self) -> AsyncIterator[list[str]]:
        """Paths of all documents' blobs in the store, in batches, unordered."""
        async for batch in obstore.list(self._store, "documents/"):
            yield [meta["path"] for meta in batch]

    async def has(self, path: str) -> bool:
        try:
            await obstore.head_async(self._store, path)
        except (NotFoundError, FileNotFoundError) as missing:
            _check_bucket(str(missing))
            return False
        return True

    async def probe(self) -> None:
        """Write and delete a small blob; raises the store's error if it cannot be used."""
        path = f"probe/{os.getpid()}"
        await obstore.put_async(self._store, path, b"penstock")
        await obstore.delete_async(self._store, path)


def _missing(path: str) -> NotFound:
    return NotFound(
        f"the blob {path} is not in the store", "blob", "Restore it from a backup, or upload it again."
    )


async def _pieces(got: obstore.GetResult) -> AsyncIterator[bytes]:
    async for piece in got.stream(READ_BYTES):
        yield bytes(piece)


def _check_bucket(answer: str) -> None:
    """Stores report a missing blob and a missing bucket with the same error; only the text differs."""
    if any(code in answer for code in NO_BUCKET):
        raise SettingInvalid("PENSTOCK_BLOB_URL", "the store has no such bucket")


def _sync(path: Path) -> None:
    """Flush a file and its folder to disk, or a power cut after the commit could lose it."""
    for name, flags, mode in ((path, os.O_RDONLY, 0o600), (path.parent, os.O_RDONLY | os.O_DIRECTORY, None)):
        descriptor = os.open(name, flags)
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)  # the user's own program may have another umask than ours
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
