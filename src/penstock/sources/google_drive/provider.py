"""The provider of Google Drive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from penstock.source_settings import provider_settings
from penstock.sources.reading.provider import ConnectedProvider

if TYPE_CHECKING:
    from penstock.sources.google_drive.reader import DriveReader
    from penstock.sources.protocol import OpenSource


class GoogleDriveProvider(ConnectedProvider):
    """The files that one Google account can see, shared drives included."""

    kind: ClassVar[str] = "google_drive"
    title: ClassVar[str] = "Google Drive"
    package: ClassVar[str] = __package__ or ""

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[DriveReader]:
        from penstock.sources.google_drive.reader import DriveReader

        settings = source.settings
        version = provider_settings(settings, self.kind).api_version
        async with self.calls(source, version=version) as calls:
            yield DriveReader(
                calls, most=settings.drive_initial_sync_max_files, largest=settings.max_upload_bytes
            )
