"""Reads the customers in a CSV file; every sync reads the whole file, and only changed rows are written."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from penstock import Settings
from penstock.errors import InvalidArgument
from penstock.sources import (
    Checkpoint,
    Cursor,
    Failed,
    FieldMap,
    Item,
    OpenSource,
    ProviderUnavailable,
    SyncEvent,
    load_maps,
)

PAGE = 500


class CustomerList:
    kind: ClassVar[str] = "customer_list"  # the name of its entry point
    title: ClassVar[str] = "Customer list"

    @property
    def maps(self) -> Mapping[str, FieldMap]:
        return load_maps(Path(__file__).parent / "maps")

    def oauth(self, settings: Settings) -> None:
        """It needs no grant, so it is added, not connected."""

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """What `penstock source add customer_list PATH` gives."""
        path = Path(str(config.get("path", ""))).expanduser()
        if not path.is_file():
            raise InvalidArgument(f"{path} is not a file", "path", "Give the path of a CSV file")
        return {"path": str(path.resolve())}

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[CustomerReader]:
        yield CustomerReader(Path(source.config["path"]))


class CustomerReader:
    streams = ("customers",)

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        rows = await asyncio.to_thread(self._rows)
        after = cursor.value["after"] if cursor.is_resumed else ""
        left = [row for row in rows if row.get("id", "") > after]
        for start in range(0, len(left), PAGE):
            for row in left[start : start + PAGE]:
                if row.get("id"):
                    yield Item(id=row["id"], document_type="customer_list.customer", payload=row)
                else:
                    yield Failed(id=None, code="no_id", message="a row has no id", path="id")
            last = left[start : start + PAGE][-1].get("id", "")
            # Items and cursor are stored in one transaction; after a crash, Penstock goes on from here.
            yield Checkpoint(cursor={"after": last}, expected=len(rows))
        # The file cannot tell what changed, so every pass is complete: rows that are missing were removed.
        yield Checkpoint(cursor=None, done=True, is_complete=True, expected=len(rows))

    def _rows(self) -> list[dict[str, str]]:
        try:
            with self._path.open(newline="", encoding="utf-8") as file:
                return sorted(csv.DictReader(file), key=lambda row: row.get("id", ""))
        except OSError as error:
            # Tried again later. A file that is missing must not look like one without customers.
            raise ProviderUnavailable("Customer list", error.strerror or "unreadable") from error
