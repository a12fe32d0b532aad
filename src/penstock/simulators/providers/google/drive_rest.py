"""Drive's REST API: files, exports, changes and about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.google import drive_files, paging
from penstock.simulators.providers.google.drive_query import parse_query
from penstock.simulators.providers.google.errors import GoogleRefused, bad_page_token, error
from penstock.simulators.providers.google.fields import masked, parse_mask
from penstock.simulators.providers.world.clock import iso_ms
from penstock.simulators.providers.world.drive import Drive, DriveChange

if TYPE_CHECKING:
    from penstock.simulators.providers.google.drive_provider import GoogleDrive

_FILE: Final = "kind,id,name,mimeType"
_AUTH: Final = "https://www.googleapis.com/auth/"
READ: Final = frozenset({f"{_AUTH}drive", f"{_AUTH}drive.readonly"})
LOOK: Final = READ | {f"{_AUTH}drive.metadata.readonly"}


def endpoints(google: GoogleDrive) -> list[Endpoint]:
    rest = DriveRest(google)
    files = "/drive/v3/files"
    return [
        Endpoint("GET", files, "files.list", answered(rest.list_files), scopes=LOOK),
        Endpoint("GET", files + "/{id}", "files.get", answered(rest.get), scopes=LOOK),
        Endpoint("GET", files + "/{id}/export", "files.export", answered(rest.export), scopes=READ),
        Endpoint(
            "GET",
            "/drive/v3/changes/startPageToken",
            "changes.getStartPageToken",
            answered(rest.start),
            scopes=LOOK,
        ),
        Endpoint("GET", "/drive/v3/changes", "changes.list", answered(rest.changes), scopes=LOOK),
        Endpoint("GET", "/drive/v3/about", "about.get", answered(rest.about), scopes=LOOK),
    ]


def answered(handle: Callable[[Call], Response]) -> Callable[[Call], Response]:
    """The handler, with what it rejects as its response."""

    def run(call: Call) -> Response:
        try:
            return handle(call)
        except GoogleRefused as refused:
            return refused.response

    return run


def listed(google: GoogleDrive, query: dict[str, Any], base: str) -> dict[str, Any]:
    """A page of files with all their fields, newest first."""
    drive, now = google.world.drive, google.world.clock.now()
    binding = {"q": query.get("q"), "orderBy": query.get("orderBy")}
    offset = paging.read_token(query.get("pageToken"), binding, now)
    most = paging.size(query.get("pageSize"), 100, 1_000)
    test = parse_query(query.get("q"), drive)
    matching = [file for file in drive.newest_first() if test(file)]
    page = matching[offset : offset + most]
    body: dict[str, Any] = {"kind": "drive#fileList", "incompleteSearch": False}
    if offset + most < len(matching):
        body["nextPageToken"] = paging.make_token(offset + most, binding, now)
    return body | {"files": [drive_files.rest_file(drive, file, base) for file in page]}


class DriveRest:
    """The handlers."""

    def __init__(self, google: GoogleDrive) -> None:
        self._google = google

    @property
    def _drive(self) -> Drive:
        return self._google.world.drive

    def list_files(self, call: Call) -> Response:
        body = listed(self._google, dict(call.query), f"{call.base}/{self._google.name}")
        mask = call.query.get("fields") or f"kind,incompleteSearch,nextPageToken,files({_FILE})"
        return JSONResponse(masked(body, parse_mask(mask)))

    def get(self, call: Call) -> Response:
        file = drive_files.found(self._drive, call.path["id"])
        if call.query.get("alt") == "media":
            if call.grant is not None and not READ & call.grant.scopes:
                return self._google.missing_scopes(sorted(READ))
            return Response(drive_files.downloaded(self._drive, file), media_type=file.mime)
        shown = drive_files.rest_file(self._drive, file, f"{call.base}/{self._google.name}")
        return JSONResponse(masked(shown, parse_mask(call.query.get("fields") or _FILE)))

    def export(self, call: Call) -> Response:
        file = drive_files.found(self._drive, call.path["id"])
        mime = call.query.get("mimeType", "")
        return Response(drive_files.exported(self._drive, file, mime), media_type=mime)

    def start(self, call: Call) -> Response:
        token = str(len(self._drive.changes) + 1)
        return JSONResponse({"kind": "drive#startPageToken", "startPageToken": token})

    def changes(self, call: Call) -> Response:
        token = call.query.get("pageToken", "")
        if not token.isdigit() or not 1 <= int(token) <= len(self._drive.changes) + 1:
            return bad_page_token()
        first, most = int(token) - 1, paging.size(call.query.get("pageSize"), 100, 1_000)
        log = self._drive.changes
        newest = {change.file_id: change.number for change in log[first:]}
        page = [change for change in log[first : first + most] if newest[change.file_id] == change.number]
        body: dict[str, Any] = {
            "kind": "drive#changeList",
            "changes": [self._change(change, call) for change in page],
        }
        if first + most < len(log):
            body["nextPageToken"] = str(first + most + 1)
        else:
            body["newStartPageToken"] = str(len(log) + 1)
        default = (
            f"kind,nextPageToken,newStartPageToken,changes(kind,changeType,time,removed,fileId,file({_FILE}))"
        )
        return JSONResponse(masked(body, parse_mask(call.query.get("fields") or default)))

    def about(self, call: Call) -> Response:
        if not call.query.get("fields"):
            said = "The 'fields' parameter is required for this method."
            return error(400, said, "required", location="fields")
        body = {"kind": "drive#about", "user": drive_files.USER}
        return JSONResponse(masked(body, parse_mask(call.query["fields"])))

    def _change(self, change: DriveChange, call: Call) -> dict[str, Any]:
        file = self._drive.files.get(change.file_id)
        shown: dict[str, Any] = {
            "kind": "drive#change",
            "changeType": "file",
            "time": iso_ms(change.time),
            "removed": file is None,
            "fileId": change.file_id,
        }
        if file is not None:
            base = f"{call.base}/{self._google.name}"
            shown["file"] = drive_files.rest_file(self._drive, file, base)
        return shown
