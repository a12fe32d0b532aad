"""Reads the objects of a bucket; every sync lists all keys, and a task looks at each that changed."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.aws import AwsClient
from penstock.model.s3_objects import STREAM
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.protocol import Checkpoint, Cursor, Failed, Gone, Item, SyncEvent
from penstock.sources.s3.place import is_folder_mark, place_of
from penstock.sources.s3.store import PROVIDER, Bucket, FoundObject, Listed

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.protocol import OpenSource, Reader

DOCUMENT_TYPE: Final = "s3.object"
PAGE: Final = 500
READ_SECONDS: Final = 60.0
_UNTYPED: Final = ("binary/octet-stream", "application/octet-stream")
_ARCHIVES: Final = ("GLACIER", "DEEP_ARCHIVE")


class S3Provider:
    """`config` is {"bucket", "prefix", "region"}; the process's own AWS credentials read it."""

    kind: ClassVar[str] = "s3"
    title: ClassVar[str] = "S3"
    maps: ClassVar[Mapping[str, FieldMap]] = {}
    fixed: ClassVar[tuple[str, ...]] = ("bucket", "prefix", "path")
    """A tenant that could change these would read whatever the installation's credentials can."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str | None, str | None], AwsClient] = {}

    def oauth(self, settings: Settings) -> OAuthApp | None:
        return None

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        place = place_of(config)
        checked = {"bucket": place.bucket, "prefix": place.prefix}
        return checked if place.region is None else {**checked, "region": place.region}

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[Reader]:
        yield S3Reader(self._bucket(source), place_of(source.config).prefix, source.settings.max_upload_bytes)

    @asynccontextmanager
    async def look(self, source: OpenSource, stream: str, item_id: str) -> AsyncIterator[Item | Gone]:
        """One object as it is now; without content, and with the reason, if it cannot become a document."""
        if is_folder_mark(item_id) or not item_id.startswith(place_of(source.config).prefix):
            yield Gone(item_id)
            return
        async with self._bucket(source).get(item_id) as found:
            yield Gone(item_id) if found is None else _looked(found, source.settings.max_upload_bytes)

    def _bucket(self, source: OpenSource) -> Bucket:
        place, settings = place_of(source.config), source.settings
        key = (place.region, settings.s3_source_endpoint)
        if key not in self._clients:
            self._clients[key] = AwsClient(
                settings,
                "s3",
                settings.s3_source_endpoint,
                "penstock source add s3",
                region=place.region,
                read_seconds=READ_SECONDS,
                extra="sqs",
            )
        return Bucket(self._clients[key], place.bucket)


class S3Reader:
    streams = (STREAM,)

    def __init__(self, bucket: Bucket, prefix: str, largest: int) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._largest = largest

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        after: str | None = cursor.value["after"] if cursor.is_resumed else None
        more = True
        while more:
            page, more = await self._bucket.page(self._prefix, after, PAGE)
            if more and (not page or page[-1].key == after):
                raise ProviderUnavailable(PROVIDER, _stuck(after))
            for each in page:
                after = each.key
                if is_folder_mark(each.key):
                    continue
                yield _item(each, _Named(each.key, None, self._bucket))
                if (failed := unusable(each, self._largest)) is not None:
                    yield failed
            if more and after is not None:
                yield Checkpoint(cursor={"after": after})
        yield Checkpoint(cursor=None, done=True, is_complete=True)


def _stuck(after: str | None) -> str:
    where = "at its beginning" if after is None else f"after {after!r}"
    return (
        f"its listing ends {where} with 'more follows' and no further key; list the bucket with another"
        " tool, or ask the operator of the store whether ListObjectsV2 supports StartAfter"
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """The content of a listed object, fetched if somebody opens it."""

    key: str
    declared: str | None
    bucket: Bucket = field(repr=False)

    @property
    def filename(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def media_type(self) -> str | None:
        return _media_type(self.key, self.declared)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self.bucket.get(self.key) as found:
            yield _nothing() if found is None else found.pieces()


@dataclass(frozen=True, slots=True)
class _Opened:
    """The content of an object that is being sent already."""

    found: FoundObject

    @property
    def filename(self) -> str:
        return self.found.listed.key.rpartition("/")[2]

    @property
    def media_type(self) -> str | None:
        return _media_type(self.found.listed.key, self.found.media_type)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        yield self.found.pieces()


_ARCHIVED: Final = "it is in an archive: restore it, and the event of its restoration brings it in"


def unusable(listed: Listed, largest: int, *, is_readable: bool = False) -> Failed | None:
    """Why an object cannot become a document; None if it can. A restored one keeps its storage class."""
    if listed.size == 0:
        return Failed(id=listed.key, code="empty", message="the object is empty")
    if listed.size > largest:
        message = f"the object has {listed.size} bytes; PENSTOCK_MAX_UPLOAD_BYTES is {largest}"
        return Failed(id=listed.key, code="too_large", message=message)
    if listed.storage_class in _ARCHIVES and not is_readable:
        return Failed(id=listed.key, code="archived", message=_ARCHIVED)
    return None


def _looked(found: FoundObject, largest: int) -> Item:
    failed = unusable(found.listed, largest, is_readable=found.body is not None)
    if failed is None:
        return _item(found.listed, _Opened(found))
    return replace(_item(found.listed, None), skip_reason=failed.message)


def _item(listed: Listed, content: _Named | _Opened | None) -> Item:
    """Its ETag and size say whether it changed; when it was written does not: the content may be the same."""
    return Item(
        id=listed.key,
        document_type=DOCUMENT_TYPE,
        payload={"path": listed.key, "size": listed.size, "etag": listed.etag},
        version=listed.etag,
        updated_at=listed.modified,
        content=content,
        fingerprint=f"{listed.etag}/{listed.size}",
    )


def _media_type(key: str, declared: str | None) -> str | None:
    if declared is not None and declared.partition(";")[0].strip() not in _UNTYPED:
        return declared
    return mimetypes.guess_type(key)[0]


async def _nothing() -> AsyncIterator[bytes]:
    """What is left of an object that was removed since it was listed."""
    yield b""
