"""Reads the files under a folder; every sync looks at all of them, and reads only those that changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.errors import InvalidArgument
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.folder.files import FoundFile, find_files
from penstock.sources.protocol import Checkpoint, Cursor, Failed, Item, SyncEvent

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.protocol import OpenSource, Reader

STREAM = "files"
PAGE = 200


class FolderProvider:
    """`config` is {"path": an absolute path}; the worker must see the same folder as the command did."""

    kind: ClassVar[str] = "folder"
    title: ClassVar[str] = "Folder"
    maps: ClassVar[Mapping[str, FieldMap]] = {}
    fixed: ClassVar[tuple[str, ...]] = ("path",)
    """A tenant that could change it would read whatever the worker can."""

    def oauth(self, settings: Settings) -> OAuthApp | None:
        return None

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        path = config.get("path")
        if not isinstance(path, str) or not Path(path).is_absolute() or "\x00" in path:
            raise InvalidArgument(f"{path!r} is not an absolute path", "path", "Give the folder's full path")
        if not Path(path).is_dir():
            raise InvalidArgument(f"{path} is not a folder", "path", "Check the path")
        return {"path": path}

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[Reader]:
        yield FolderReader(Path(source.config["path"]))


class FolderReader:
    streams = (STREAM,)

    def __init__(self, root: Path) -> None:
        self._root = root

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        # A disk that is not mounted must not look like a folder whose files were all removed.
        if not await asyncio.to_thread(self._root.is_dir):
            raise ProviderUnavailable("Folder", f"{self._root} is not there")
        found = find_files(self._root, cursor.value["after"] if cursor.is_resumed else None)
        unread = cursor.value["unread"] if cursor.is_resumed else 0
        while page := await asyncio.to_thread(lambda: list(islice(found, PAGE))):
            after = None
            for each in page:
                if isinstance(each, FoundFile):
                    after = each.path
                    yield _item(each)
                else:
                    unread += 1
                    yield Failed(id=None, code="unreadable", message=each.strerror or "", path=each.filename)
            if after is not None:
                yield Checkpoint(cursor={"after": after, "unread": unread}, left_out=unread)
        # What could not be looked at may still be there.
        yield Checkpoint(cursor=None, done=True, is_complete=True, left_out=unread)


def _item(found: FoundFile) -> Item:
    return Item(
        id=found.path,
        document_type="folder.file",
        payload={"path": found.path, "size": found.size, "modified_ns": found.modified_ns},
        updated_at=datetime.fromtimestamp(found.modified_ns / 1e9, UTC),
        content=found,
    )
