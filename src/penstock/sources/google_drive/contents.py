"""The bytes of Drive's files: exported, or downloaded when they are needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.net import ResponseRefused
from penstock.sources.errors import AccessForbidden
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

LARGEST_EXPORT: Final = 12 * 1024 * 1024
"""Google's limit is 10 MB; a server that sends more is cut off."""
_OF_THE_TOKEN: Final = ("scope", "insufficient", "access_token", "accessnotconfigured", "permission_denied")


class FileUnreadable(PenstockError):
    """One file cannot be read; `reason` is the provider's code, or ours."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"Google Drive does not give the content of this file: {reason}", "Check the file there"
        )
        self.reason = reason
        self.args = (reason,)


def reason_of(error: CallRejected | AccessForbidden | ResponseRefused) -> str | None:
    """Why this one file cannot be read; None if the error is about more than one file."""
    if isinstance(error, ResponseRefused):
        return "file_too_large"
    if isinstance(error, CallRejected):
        return error.error or f"http_{error.status}"
    reason = str(error.args[2] or "")
    if not reason or reason.lower().startswith(_OF_THE_TOKEN):
        return None
    return reason


@dataclass(frozen=True, slots=True)
class DriveContent:
    """A file that is downloaded as it is."""

    calls: Calls
    file_id: str
    filename: str
    media_type: str | None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        # An MCP server has one tool for both.
        method = "drive.files.download" if self.calls.has("drive.files.download") else "drive.files.export"
        try:
            async with self.calls.content(method, {"id": self.file_id}) as parts:
                yield parts
        except (CallRejected, AccessForbidden, ResponseRefused) as error:
            reason = reason_of(error)
            if reason is None:
                raise
            raise FileUnreadable(reason) from None


async def exported_text(calls: Calls, file_id: str, media_type: str) -> str:
    """A document in one of Google's formats as text. FileUnreadable if this one cannot be exported."""
    content = bytearray()
    try:
        async with calls.content("drive.files.export", {"id": file_id, "media_type": media_type}) as parts:
            async for part in parts:
                content += part
                if len(content) > LARGEST_EXPORT:
                    raise FileUnreadable("file_too_large")
    except (CallRejected, AccessForbidden, ResponseRefused) as error:
        reason = reason_of(error)
        if reason is None:
            raise
        raise FileUnreadable(reason) from None
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
