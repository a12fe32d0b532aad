"""Finds the folders that a source reads: by a well-known name, an id, or a path of display names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.outlook.graph import PROVIDER, is_gone
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.outlook.graph import Graph

WELL_KNOWN: Final = frozenset(
    {"archive", "clutter", "deleteditems", "drafts", "inbox", "junkemail", "msgfolderroot", "sentitems"}
)
MOST_PAGES: Final = 50
_SELECT: Final = {"$select": "id,displayName"}


@dataclass(frozen=True, slots=True)
class Folder:
    id: str
    name: str


async def find_folder(graph: Graph, wanted: str) -> Folder | None:
    """The folder of this name; `Clients/Invoices` is the folder Invoices in the folder Clients."""
    if wanted.lower() in WELL_KNOWN:
        return await _get(graph, wanted.lower())
    folder: Folder | None = None
    for name in wanted.split("/"):
        folder = await _child(graph, folder, name.strip())
        if folder is None:
            return None
    return folder


async def folder_name(graph: Graph, folder_id: str, known: Sequence[Folder]) -> str | None:
    for each in known:
        if each.id == folder_id:
            return each.name
    found = await _get(graph, folder_id)
    return found.name if found else None


async def _get(graph: Graph, name: str) -> Folder | None:
    try:
        return _folder(await graph.get(f"{graph.root}/mailFolders/{quote(name, safe='')}", _SELECT))
    except CallRejected as rejected:
        if is_gone(rejected):
            return None
        raise


async def _child(graph: Graph, parent: Folder | None, name: str) -> Folder | None:
    async for each in _children(graph, parent):
        found = _folder(each)
        if found is not None and found.name.casefold() == name.casefold():
            return found
    return None


async def _children(graph: Graph, parent: Folder | None) -> AsyncIterator[Any]:
    path = f"{graph.root}/mailFolders"
    if parent is not None:
        path += f"/{quote(parent.id, safe='')}/childFolders"
    page = await graph.get(path, {**_SELECT, "$top": "100"})
    for _ in range(MOST_PAGES):
        listed = page.get("value")
        for each in listed if isinstance(listed, list) else ():
            yield each
        link = page.get("@odata.nextLink")
        if not isinstance(link, str):
            return
        page = await graph.get(link)
    raise ProviderUnavailable(PROVIDER, "it lists folders without an end")


def _folder(found: Any) -> Folder | None:
    if not isinstance(found, dict) or not isinstance(found.get("id"), str):
        return None
    return Folder(found["id"], str(found.get("displayName") or ""))
