"""The tools of Google Drive's MCP server, and the logical methods of the sandbox."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.simulators.providers.google import drive_files, paging
from penstock.simulators.providers.google.drive_query import parse_query
from penstock.simulators.providers.google.drive_rest import LOOK, READ, listed
from penstock.simulators.providers.google.errors import GoogleRefused
from penstock.simulators.providers.tools import (
    Tool,
    ToolAnswer,
    ToolFailed,
    array,
    boolean,
    integer,
    object_schema,
    string,
    structured,
)
from penstock.simulators.providers.world.drive import FOLDER, SHORTCUT, DriveFile

if TYPE_CHECKING:
    from penstock.simulators.providers.google.drive_provider import GoogleDrive

_TOKEN: Final = string("The nextPageToken of the previous page.")
_NO_SNIPPETS: Final = boolean("Leave out contentSnippet.")
_FILES: Final = object_schema(
    files={"type": "array", "items": {"type": "object"}}, nextPageToken={"type": "string"}
)
_FILE_ID: Final = string("The id of the file.")


def tool_errors(run: Callable[[Mapping[str, Any]], ToolAnswer]) -> Callable[[Mapping[str, Any]], ToolAnswer]:
    """The tool, with Google's errors as text."""

    def guarded(arguments: Mapping[str, Any]) -> ToolAnswer:
        try:
            return run(arguments)
        except GoogleRefused as refused:
            raise ToolFailed(json.dumps(json.loads(str(refused)))) from None

    return guarded


class DriveTools:
    """The handlers of the tools."""

    def __init__(self, google: GoogleDrive) -> None:
        self._google = google

    def vendor(self) -> list[Tool]:
        listing = {
            "pageSize": integer("Files per page.", default=10),
            "pageToken": _TOKEN,
            "excludeContentSnippets": _NO_SNIPPETS,
        }
        order = string("Order.", enum=["recency", "lastModified", "lastModifiedByMe"])
        one = {"fileId": _FILE_ID}
        content = object_schema(
            id={"type": "string"},
            title={"type": "string"},
            mimeType={"type": "string"},
            content={"type": "string"},
        )
        return [
            Tool(
                "search_files",
                "Searches files: title contains 'x', modifiedTime > '…'.",
                tool_errors(self._search),
                {"query": string("The query."), **listing},
                ["query"],
                _FILES,
                LOOK,
            ),
            Tool(
                "list_recent_files",
                "Lists files, the most recent first.",
                tool_errors(self._recent),
                {"orderBy": order, **listing},
                [],
                _FILES,
                LOOK,
            ),
            Tool(
                "get_file_metadata",
                "Metadata of a file.",
                tool_errors(self._metadata),
                {**one, "excludeContentSnippets": _NO_SNIPPETS},
                ["fileId"],
                object_schema(id={"type": "string"}),
                LOOK,
            ),
            Tool(
                "read_file_content",
                "A file as text.",
                tool_errors(self._read),
                one,
                ["fileId"],
                object_schema(fileContent={"type": "string"}),
                READ,
            ),
            Tool(
                "download_file_content",
                "A file as base64; Google formats need exportMimeType.",
                tool_errors(self._download),
                {**one, "exportMimeType": string("The format to export to.")},
                ["fileId"],
                content,
                READ,
            ),
        ]

    def sandbox(self) -> list[Tool]:
        query = {
            "q": string("A query: trashed = false and modifiedTime > '…'."),
            "pageSize": integer("Files per page.", default=100),
            "pageToken": _TOKEN,
        }
        exported = object_schema(mimeType={"type": "string"}, content={"type": "string"})
        export = {"fileId": _FILE_ID, "mimeType": string("text/plain, text/csv, …")}
        listing = object_schema(files=array({"type": "object"}, "Files."), nextPageToken={"type": "string"})
        return [
            Tool("drive.files.list", "Lists files.", tool_errors(self._list), query, [], listing, LOOK),
            Tool(
                "drive.files.export",
                "Exports or downloads a file, as base64.",
                tool_errors(self._export),
                export,
                ["fileId"],
                exported,
                READ,
            ),
        ]

    def _search(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        return self._page(arguments, arguments.get("query"))

    def _recent(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        return self._page(arguments, None)

    def _page(self, arguments: Mapping[str, Any], query: str | None) -> ToolAnswer:
        drive, now = self._google.world.drive, self._google.world.clock.now()
        binding = {"query": query}
        offset = paging.read_token(arguments.get("pageToken"), binding, now)
        most = paging.size(arguments.get("pageSize"), 10, 100)
        test = parse_query(query, drive)
        matching = [file for file in drive.newest_first() if not file.trashed and test(file)]
        snippets = not arguments.get("excludeContentSnippets")
        page = matching[offset : offset + most]
        body: dict[str, Any] = {
            "files": [drive_files.tool_file(drive, file, snippet=snippets) for file in page]
        }
        if offset + most < len(matching):
            body["nextPageToken"] = paging.make_token(offset + most, binding, now)
        return structured(body)

    def _metadata(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        snippet = not arguments.get("excludeContentSnippets")
        return structured(
            drive_files.tool_file(self._google.world.drive, self._file(arguments), snippet=snippet)
        )

    def _read(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        file = self._file(arguments)
        if file.mime in (FOLDER, SHORTCUT):
            raise ToolFailed(f"Unsupported MIME type: {file.mime}")
        return structured({"fileContent": self._google.world.drive.text_of(file)})

    def _download(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        file = self._file(arguments)
        mime, content = self._content(file, arguments.get("exportMimeType"))
        encoded = base64.b64encode(content).decode()
        return structured({"id": file.id, "title": file.name, "mimeType": mime, "content": encoded})

    def _list(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        return structured(listed(self._google, dict(arguments), "https://www.googleapis.com"))

    def _export(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        mime, content = self._content(self._file(arguments), arguments.get("mimeType"))
        return structured({"mimeType": mime, "content": base64.b64encode(content).decode()})

    def _content(self, file: DriveFile, mime: str | None) -> tuple[str, bytes]:
        drive = self._google.world.drive
        if not file.google:
            return file.mime, drive_files.downloaded(drive, file)
        if not mime:
            raise ToolFailed("exportMimeType is required for Google Drive first-party MIME types.")
        return mime, drive_files.exported(drive, file, mime)

    def _file(self, arguments: Mapping[str, Any]) -> DriveFile:
        return drive_files.found(self._google.world.drive, str(arguments["fileId"]))
