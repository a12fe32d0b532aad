"""The provider of QuickBooks Online."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from penstock.source_settings import provider_settings
from penstock.sources.errors import AccessForbidden
from penstock.sources.reading.provider import ConnectedProvider

if TYPE_CHECKING:
    from penstock.sources.protocol import OpenSource
    from penstock.sources.quickbooks.reader import QuickBooksReader


class QuickBooksProvider(ConnectedProvider):
    """The customers and invoices of one QuickBooks company; its id is the source's account."""

    kind: ClassVar[str] = "quickbooks"
    title: ClassVar[str] = "QuickBooks"
    package: ClassVar[str] = __package__ or ""

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[QuickBooksReader]:
        from penstock.sources.quickbooks.reader import QuickBooksReader

        if source.account is None and not source.settings.integrations_use_fixtures:
            raise AccessForbidden(self.title, "the company", "the source has no company id (realmId)")
        version = provider_settings(source.settings, self.kind).api_version
        async with self.calls(source, realm=source.account, version=version) as calls:
            yield QuickBooksReader(calls)
