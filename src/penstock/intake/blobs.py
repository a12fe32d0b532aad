"""Where originals are kept: a local folder, or a bucket by setting, through one interface."""

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

from penstock.db.private_files import close_tree, ensure_private_dir
from penstock.errors import NotFound, PenstockError, SettingInvalid
from penstock.intake.spool import Spooled
from penstock.settings import Settings

if TYPE_CHECKING:
    import httpx2

READ_BYTES = 1_048_576
SIGNED_FOR = timedelta(minutes=5)
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
"""What S3, Google and Azure call a bucket that is not there."""


class SignedDeleteFailed(PenstockError):
    """The store did not delete a blob by a signed URL; `reason` is what came instead of its answer."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The blob {path} was not deleted by a signed URL: {reason}",
            "Check that this login may delete in the bucket, or unset PENSTOCK_FILE_DELETE_SIGNED",
        )
        self.path = path
        self.reason = reason
        self.args = (path, reason)


class Blobs:
    """Written once, read often. A local blob is on disk before `write` returns, as a commit is."""

    def __init__(self, store: ObjectStore, folder: Path | None = None) -> None:
        self._store = store
        self._folder = folder

    @property
    def store(self) -> ObjectStore:
        """The store itself, for backups."""
        return self._store

    @property
    def local_folder(self) -> Path | None:
        """The local folder, or none for a bucket."""
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
        await self.settle(path)

    async def settle(self, path: str) -> None:
        """Wait until a local blob is on disk."""
        if self._folder is not None:
            await asyncio.to_thread(_settle, self._folder / path)

    async def read(self, path: str) -> AsyncIterator[bytes]:
        """The blob in pieces; NotFound before the first piece when it is not there."""
        try:
            got = await obstore.get_async(self._store, path)
        except (NotFoundError, FileNotFoundError):
            raise NotFound(
                f"the blob {path} is not in the store",
                "blob",
                "Restore it from a backup, or upload it again.",
            ) from None
        return _pieces(got)

    async def fetch(self, path: str, to: Path) -> None:
        """Copy a blob into a file."""
        stream = await self.read(path)
        with to.open("wb") as file:  # pieces go to the page cache, not to the disk
            async for piece in stream:
                file.write(piece)

    async def delete(self, path: str) -> None:
        """Remove a blob; one that is gone already is as good, a bucket that is not there is not."""
        try:
            await obstore.delete_async(self._store, path)
        except (NotFoundError, FileNotFoundError) as missing:
            _check_bucket(str(missing))

    async def delete_by_signed_url(self, path: str, http_client: httpx2.AsyncClient) -> None:
        """The same by an HTTP request of whoever holds the signed URL, which is nobody but us."""
        if not isinstance(self._store, S3Store | GCSStore | AzureStore):
            raise SettingInvalid(
                "PENSTOCK_FILE_DELETE_SIGNED", "a folder cannot sign URLs, only a bucket can"
            )
        url = await obstore.sign_async(self._store, "DELETE", path, expires_in=SIGNED_FOR)
        try:
            answer = await http_client.delete(url, follow_redirects=False)
        except Exception as error:  # noqa: BLE001  # of the network or of the guard
            # The text of an error may show the URL, and with it the signature.
            raise SignedDeleteFailed(path, type(error).__name__) from None
        if answer.status_code == 404:
            _check_bucket(answer.text)
        elif not answer.is_success:
            raise SignedDeleteFailed(path, f"the store answered {answer.status_code}")

    async def listed(self) -> AsyncIterator[list[str]]:
        """Paths of all documents' blobs in the store, in batches, in no order."""
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
        """Write and remove a small blob; whatever the store raises says why it cannot be used."""
        path = f"probe/{os.getpid()}"
        await obstore.put_async(self._store, path, b"penstock")
        await obstore.delete_async(self._store, path)


async def _pieces(got: obstore.GetResult) -> AsyncIterator[bytes]:
    async for piece in got.stream(READ_BYTES):
        yield bytes(piece)


def _check_bucket(answer: str) -> None:
    """A store says "not found" of a blob and of a whole bucket alike; only its words tell which."""
    if any(code in answer for code in NO_BUCKET):
        raise SettingInvalid("PENSTOCK_BLOB_URL", "the store has no such bucket")


def _settle(path: Path) -> None:
    """Flush a file and its folder to disk, or a power cut after the commit could lose it."""
    for name, flags, mode in ((path, os.O_RDONLY, 0o600), (path.parent, os.O_RDONLY | os.O_DIRECTORY, None)):
        descriptor = os.open(name, flags)
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)  # a program of the user's own has another umask than ours
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
