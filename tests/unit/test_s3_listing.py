"""Listings of stores that speak S3 and do not do what it says: each ends, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.aws import AwsClient
from penstock.model.s3_objects import STREAM
from penstock.settings import Settings
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.protocol import Cursor
from penstock.sources.s3.provider import S3Reader
from penstock.sources.s3.store import Bucket


class Store(AwsClient):
    """Answers each listing with the next of these pages, and the last one for ever."""

    def __init__(self, *pages: Sequence[str]) -> None:
        super().__init__(Settings(), "s3", None, "test")
        self.pages = list(pages)
        self.asked: list[object] = []

    async def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        self.asked.append(parameters.get("StartAfter"))
        assert len(self.asked) < 10, "it lists for ever"
        keys = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        when = datetime(2026, 1, 1, tzinfo=UTC)
        found = [{"Key": key, "ETag": '"a"', "Size": 1, "LastModified": when} for key in keys]
        return {"Contents": found, "IsTruncated": True}


@pytest.mark.parametrize(
    ("pages", "where"),
    [([[]], "at its beginning"), ([["a", "b"], []], "after 'b'"), ([["a", "b"]], "after 'b'")],
    ids=["nothing", "an empty page", "the same page again"],
)
async def test_a_listing_that_does_not_go_on_ends_with_an_error(pages: list[list[str]], where: str) -> None:
    store = Store(*pages)
    with pytest.raises(ProviderUnavailable, match="StartAfter") as refused:
        async for _ in S3Reader(Bucket(store, "papers"), "", 10).read(STREAM, Cursor(None, is_full=True)):
            pass
    assert where in str(refused.value)
    assert len(store.asked) <= 2
