"""Recorded responses of a provider instead of the provider: the same readers, without a token."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from penstock.sources.bindings.binding import Method
from penstock.sources.bindings.loading import binding_names, load_binding
from penstock.sources.bindings.page import RecordPage, page_of
from penstock.sources.responses import CallRejected

CONTENTS: Final = {"drive.files.export": "gdoc-export-sample.txt"}
_NOT_RECORDED: Final = (
    *(".changes.", ".count", ".captured", ".archived", ".profile", ".history."),
    *(".messages.", ".attachments.", ".watch", ".stop"),
)


class RecordedCalls:
    """Answers the methods of a provider from its folder `fixtures`: files have the shape of the REST API.

    STREAM.json is the answer to a list. Nothing ever changes: searches for changes find nothing.
    """

    def __init__(self, provider: str, package: str) -> None:
        self._provider = provider
        self._package = package

    def has(self, name: str) -> bool:
        return not any(part in name for part in _NOT_RECORDED)

    async def page(
        self, name: str, values: Mapping[str, Any] | None = None, cursor: Any = None
    ) -> RecordPage:
        stream, _, verb = name.rpartition(".")
        stream = stream.rpartition(".")[2]
        if verb == "changed" or (values or {}).get("query"):
            return RecordPage(records=[], next=None, total=0, values={}, server_time=datetime.now(UTC))
        listing = self._method(name.rpartition(".")[0] + ".list")
        listed = page_of(listing, _recorded(self._package, f"{stream}.json"), None, datetime.now(UTC))
        if verb == "get":
            wanted = (values or {}).get("id")
            found = [each for each in listed.records if each.get("id") == wanted]
            if not found:
                raise CallRejected(self._provider, name, 404)
            return replace(listed, records=found, next=None, total=None)
        return replace(listed, next=None, total=len(listed.records))

    @asynccontextmanager
    async def content(self, name: str, values: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        recorded = CONTENTS.get(name) or f"{values['id']}.bin"
        path = files(self._package) / "fixtures" / recorded
        if not path.is_file():
            raise CallRejected(self._provider, name, 404)
        yield _parts(path.read_bytes())

    def _method(self, name: str) -> Method:
        """By the REST binding, whose shape the recorded answers have."""
        rest = next(each for each in binding_names(self._package) if "-rest@" in each)
        return load_binding(self._package, rest).methods[name]


@cache
def _recorded(package: str, name: str) -> Any:
    return json.loads((files(package) / "fixtures" / name).read_text("utf-8"))


async def _parts(content: bytes) -> AsyncIterator[bytes]:
    yield content
