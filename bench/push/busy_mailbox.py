"""A mailbox that has new mails whenever it is read, so that a sync is running all the time."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from penstock.sources.mapping.field_map import FieldMap
from penstock.sources.mapping.mapped import Mapped
from penstock.sources.protocol import Checkpoint, Cursor, Item, OpenSource, SyncEvent

MAILS = 200
PAGE = 50


class MailMap:
    document_type = "bench.mail"
    version = 1

    def apply(self, external_id: str, payload: Mapping[str, Any]) -> Mapped:
        return Mapped(title=payload["subject"], text=payload["text"])


class BusyMailbox:
    kind: ClassVar[str] = "outlook"
    title: ClassVar[str] = "Busy mailbox"
    streams = ("mail",)
    maps: ClassVar[Mapping[str, FieldMap]] = {"bench.mail": MailMap()}

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def oauth(self, settings: object) -> None:
        return None

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        return config

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[BusyMailbox]:
        yield self

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        for _ in range(MAILS // PAGE):
            for _ in range(PAGE):
                number = next(self._numbers)
                text = f"Invoice {number} for turbine {number % 97} is due in {number % 31} days."
                yield Item(
                    id=str(number),
                    document_type="bench.mail",
                    payload={"subject": f"Invoice {number}", "text": text},
                )
            yield Checkpoint(cursor={"at": number})
        yield Checkpoint(cursor={"at": number}, done=True)
