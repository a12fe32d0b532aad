"""Drive's files in the shape of its REST API, whichever binding they came through."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final

from penstock.sources.reading.records import RecordUnusable, required_text

GOOGLE: Final = "application/vnd.google-apps."
SKIPPED: Final = (f"{GOOGLE}folder", f"{GOOGLE}shortcut")
EXPORTS: Final[Mapping[str, tuple[str, str]]] = {
    f"{GOOGLE}document": ("text/plain", "google_drive.doc"),
    f"{GOOGLE}spreadsheet": ("text/csv", "google_drive.sheet"),
    f"{GOOGLE}presentation": ("text/plain", "google_drive.file"),
}
"""What Google's own formats are exported to, and the document type that makes."""
# What both bindings have: a field that only one of them gives would make every file look changed.
_FIELDS: Final = ("id", "name", "mimeType", "createdTime", "modifiedTime", "webViewLink", "size")
_MCP_NAMES: Final = {"name": "title", "webViewLink": "viewUrl", "size": "fileSize"}


def file_of(record: Any) -> dict[str, Any]:
    """The payload without the exported text."""
    if not isinstance(record, Mapping):
        raise RecordUnusable("@", f"is a {type(record).__name__}, not an object")
    found = {name: record.get(name, record.get(_MCP_NAMES.get(name, name))) for name in _FIELDS}
    required_text(found, "id")
    required_text(found, "name")
    required_text(found, "mimeType")
    owners = [each.get("emailAddress") for each in record.get("owners") or () if isinstance(each, Mapping)]
    owner = next((each for each in (*owners, record.get("owner")) if isinstance(each, str)), None)
    if owner is not None:
        found["owners"] = [{"emailAddress": owner}]
    return {name: value for name, value in found.items() if value is not None}


def version_of(file: Mapping[str, Any]) -> str:
    """Drive's own version also counts changes of permissions; the name is part of the document."""
    return f"{file.get('modifiedTime')}/{zlib.crc32(str(file['name']).encode()):08x}"


def size_of(file: Mapping[str, Any]) -> int | None:
    size = str(file.get("size", ""))
    return int(size) if size.isdecimal() and len(size) < 20 else None
