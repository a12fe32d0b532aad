"""Drive's JSON of files, and their content: exported, downloaded, or too large to export."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from penstock.simulators.providers.google.errors import GoogleRefused, error
from penstock.simulators.providers.world.clock import iso_ms
from penstock.simulators.providers.world.drive import DOC, FOLDER, SHEET, SHORTCUT, Drive, DriveFile
from penstock.simulators.providers.world.mail import OWNER, OWNER_NAME
from penstock.simulators.providers.world.pdf import make_pdf

LARGEST_EXPORT: Final = 10_485_760
EXPORTS: Final[dict[str, tuple[str, ...]]] = {
    DOC: ("text/plain", "text/markdown", "text/html", "application/pdf"),
    SHEET: ("text/csv", "application/pdf"),
}
USER: Final = {"kind": "drive#user", "displayName": OWNER_NAME, "me": True, "emailAddress": OWNER}


def rest_file(drive: Drive, file: DriveFile, base: str = "https://www.googleapis.com") -> dict[str, Any]:
    """Every field of a file."""
    shown: dict[str, Any] = {
        "kind": "drive#file",
        "id": file.id,
        "name": file.name,
        "mimeType": file.mime,
        "starred": False,
        "trashed": file.trashed,
        "explicitlyTrashed": file.trashed,
        "parents": [file.parent],
        "spaces": ["drive"],
        "version": str(file.version),
        "webViewLink": _link(file),
        "createdTime": iso_ms(file.created),
        "modifiedTime": iso_ms(file.modified),
        "owners": [USER],
        "ownedByMe": True,
        "capabilities": {"canDownload": file.mime not in (FOLDER, SHORTCUT)},
    }
    if file.target is not None:
        target = drive.files.get(file.target)
        shown["shortcutDetails"] = {
            "targetId": file.target,
            "targetMimeType": target.mime if target else DOC,
        }
    if file.mime in EXPORTS:
        where = f"{base}/drive/v3/files/{file.id}/export?mimeType="
        shown["exportLinks"] = {mime: where + mime for mime in EXPORTS[file.mime]}
    if not file.google:
        content = drive.bytes_of(file)
        shown |= {
            "size": str(len(content)),
            "md5Checksum": hashlib.md5(content, usedforsecurity=False).hexdigest(),
            "sha256Checksum": hashlib.sha256(content).hexdigest(),
            "headRevisionId": f"0B{file.id[:12]}{file.version}",
            "originalFilename": file.name,
            "fileExtension": file.name.rpartition(".")[2],
        }
    return shown


def tool_file(drive: Drive, file: DriveFile, *, snippet: bool) -> dict[str, Any]:
    """A file as the MCP server shows it."""
    shown: dict[str, Any] = {
        "id": file.id,
        "title": file.name,
        "parentId": file.parent,
        "mimeType": file.mime,
        "viewUrl": _link(file),
        "createdTime": iso_ms(file.created),
        "modifiedTime": iso_ms(file.modified),
        "owner": OWNER,
    }
    if not file.google:
        shown |= {
            "fileSize": str(len(drive.bytes_of(file))),
            "fileExtension": file.name.rpartition(".")[2],
        }
    if snippet and file.mime not in (FOLDER, SHORTCUT):
        shown["contentSnippet"] = " ".join(drive.text_of(file).split())[:200]
    return shown


def found(drive: Drive, file_id: str) -> DriveFile:
    file = drive.files.get(file_id)
    if file is None:
        raise GoogleRefused(error(404, f"File not found: {file_id}.", "notFound", location="fileId"))
    return file


def exported(drive: Drive, file: DriveFile, mime: str) -> bytes:
    """A Google document in another format."""
    if file.mime not in EXPORTS:
        raise GoogleRefused(error(403, "Export only supports Docs Editors files.", "fileNotExportable"))
    if mime not in EXPORTS[file.mime]:
        said = "The requested conversion is not supported."
        raise GoogleRefused(error(400, said, "badRequest", location="convertTo"))
    text = drive.text_of(file)
    match mime:
        case "application/pdf":
            content = make_pdf(text.splitlines())
        case "text/html":
            content = f"<html><body><pre>{text}</pre></body></html>".encode()
        case "text/plain":
            content = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
        case _:
            content = text.encode()
    if len(content) > LARGEST_EXPORT:
        said = "This file is too large to be exported."
        raise GoogleRefused(error(403, said, "exportSizeLimitExceeded"))
    return content


def downloaded(drive: Drive, file: DriveFile) -> bytes:
    """The bytes of a file that is not a Google document."""
    if file.google:
        said = "Only files with binary content can be downloaded. Use Export with Docs Editors files."
        raise GoogleRefused(error(403, said, "fileNotDownloadable", location="alt"))
    return drive.bytes_of(file)


def _link(file: DriveFile) -> str:
    kinds = {DOC: "document", SHEET: "spreadsheets"}
    if file.mime in kinds:
        return f"https://docs.google.com/{kinds[file.mime]}/d/{file.id}/edit"
    return f"https://drive.google.com/file/d/{file.id}/view"
