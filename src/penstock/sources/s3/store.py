"""Reads a bucket: its keys page by page, and one object as it is now.

Through boto3, not obstore: a key with an empty segment, such as `a//b`, makes obstore's listing of the whole
bucket fail.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from penstock.aws import AwsClient, AwsRefused
from penstock.sources.errors import ProviderUnavailable, SourceError, Throttled

PROVIDER: Final = "S3"
PIECE: Final = 1_048_576
WAIT_SECONDS: Final = 5.0
MISSING: Final = frozenset({"NoSuchKey", "404"})
ARCHIVED: Final = "InvalidObjectState"
THROTTLED: Final = frozenset({"SlowDown", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests"})
_REASONS: Final = {
    "AccessDenied": "the credentials may not read it; they need s3:ListBucket and s3:GetObject",
    "NoSuchBucket": "there is no such bucket",
    "NoCredentialsError": "there are no AWS credentials in this process",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing."""

    key: str
    etag: str
    size: int
    modified: datetime
    storage_class: str


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object whose content is about to be sent; ETag, size and content are of the same version.

    `body` is None if it is in an archive and has to be restored before anybody can read it.
    """

    listed: Listed
    media_type: str | None
    body: Any = field(repr=False)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The content; ProviderUnavailable if it breaks off."""
        left = self.listed.size
        while piece := await asyncio.to_thread(_read, self.body):
            left -= len(piece)
            yield piece
        if left > 0:
            raise ProviderUnavailable(PROVIDER, f"the object broke off {left} bytes before its end")


class Bucket:
    """One bucket by one client, which all syncs of a process share."""

    def __init__(self, client: AwsClient, name: str) -> None:
        self._client = client
        self._name = name

    async def page(self, prefix: str, after: str | None, most: int) -> tuple[Sequence[Listed], bool]:
        """Up to `most` objects in the order of their keys, from `after` on; and whether more follow."""
        start = {} if after is None else {"StartAfter": after}
        try:
            answer = await self._client.call(
                "list_objects_v2", Bucket=self._name, Prefix=prefix, MaxKeys=most, **start
            )
        except AwsRefused as refused:
            raise _failed(refused, f"the bucket {self._name}") from None
        return [_listed(each) for each in answer.get("Contents", ())], bool(answer.get("IsTruncated"))

    @asynccontextmanager
    async def get(self, key: str) -> AsyncIterator[FoundObject | None]:
        """The object as it is now, None if there is none; without a body if it is in an archive.

        One request gives both its version and its content, so that they belong together.
        """
        answer, is_archived = await self._ask("get_object", key)
        if is_archived:
            answer, _ = await self._ask("head_object", key)
        if answer is None:
            yield None
            return
        body = answer.get("Body")
        listed = Listed(
            key,
            str(answer.get("ETag", "")).strip('"'),
            int(answer["ContentLength"]),
            answer["LastModified"],
            str(answer.get("StorageClass", "STANDARD")),
        )
        try:
            yield FoundObject(listed, answer.get("ContentType"), body)
        finally:
            if body is not None:
                await asyncio.to_thread(body.close)

    async def _ask(self, operation: str, key: str) -> tuple[dict[str, Any] | None, bool]:
        """The answer, None if there is no such object; and whether it is in an archive."""
        try:
            return await self._client.call(operation, Bucket=self._name, Key=key), False
        except AwsRefused as refused:
            if refused.code in MISSING:
                return None, False
            if refused.code == ARCHIVED:
                return None, True
            raise _failed(refused, f"{key} in the bucket {self._name}") from None


def _listed(row: dict[str, Any]) -> Listed:
    return Listed(
        row["Key"],
        str(row.get("ETag", "")).strip('"'),
        int(row["Size"]),
        row["LastModified"],
        str(row.get("StorageClass", "STANDARD")),
    )


def _read(body: Any) -> bytes:
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]  # it has no stubs

    try:
        piece: bytes = body.read(PIECE)
    except (BotoCoreError, OSError) as error:
        raise ProviderUnavailable(PROVIDER, f"the object broke off ({type(error).__name__})") from None
    return piece


def _failed(refused: AwsRefused, what: str) -> SourceError:
    if refused.code in THROTTLED:
        return Throttled(PROVIDER, WAIT_SECONDS, refused.code)
    return ProviderUnavailable(PROVIDER, f"{what}: {_REASONS.get(refused.code, refused.code)}")
