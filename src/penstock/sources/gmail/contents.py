"""The bytes of Gmail's attachments: base64 inside JSON, decoded piece by piece as they arrive."""

from __future__ import annotations

import binascii
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.gmail.bodies import bytes_of, files_of
from penstock.sources.mail.attachments import AttachmentUnreadable
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

PROVIDER: Final = "Gmail"
LONGEST_HEAD: Final = 65_536
"""Where the field with the bytes must have begun."""
_FIELD: Final = b'"data"'
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


class GmailAttachment:
    """One part of one message. Ids of attachments change with every request, so the part's is what counts."""

    def __init__(self, calls: Calls, message_id: str, part: Any) -> None:
        self._calls = calls
        self._message_id = message_id
        self._part_id = str(part.get("partId") or "")
        self._attachment_id = _attachment_id(part)
        self._held = bytes_of(part)

    @asynccontextmanager
    async def fetch(self) -> AsyncIterator[AsyncIterator[bytes]]:
        if self._held is not None:
            yield _once(self._held)
            return
        async with AsyncExitStack() as stack:
            try:
                parts = await stack.enter_async_context(self._content(self._attachment_id))
            except CallRejected as rejected:
                if rejected.status not in (400, 404):
                    raise
                # The id is too old: the message has a new one.
                parts = await stack.enter_async_context(self._content(await self._fresh_id()))
            yield decoded(parts)

    @asynccontextmanager
    async def _content(self, attachment_id: str | None) -> AsyncIterator[AsyncIterator[bytes]]:
        if attachment_id is None:
            raise AttachmentUnreadable(PROVIDER, "no_content")
        values = {"message": self._message_id, "id": attachment_id}
        async with self._calls.content("gmail.attachments.get", values) as parts:
            yield parts

    async def _fresh_id(self) -> str | None:
        page = await self._calls.page("gmail.messages.get", {"id": self._message_id})
        message = page.records[0] if page.records else {}
        for part in files_of(message.get("payload") if isinstance(message, dict) else None):
            if str(part.get("partId") or "") == self._part_id:
                return _attachment_id(part)
        return None


async def decoded(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The bytes in the field `data` of a JSON object; never more than a piece of it is held."""
    held = b""
    is_open = False
    async for piece in parts:
        held += piece
        if not is_open:
            start = _start(held)
            if start is None:
                if len(held) > LONGEST_HEAD:
                    break
                continue
            held, is_open = held[start:], True
        # The field ends at a quote; a backslash begins the escaped padding, which says nothing.
        end = min((at for at in (held.find(b'"'), held.find(b"\\")) if at >= 0), default=None)
        whole = held if end is None else held[:end].rstrip(b"=")
        ready = len(whole) if end is not None else len(whole) // 4 * 4
        if ready:
            yield _bytes(whole[:ready])
        if end is not None:
            return
        held = held[ready:]
    raise AttachmentUnreadable(PROVIDER, "cut_off")


def _start(head: bytes) -> int | None:
    """Where the value of the field begins, once enough of it has arrived."""
    at = head.find(_FIELD)
    if at < 0:
        return None
    quote = head.find(b'"', at + len(_FIELD))
    return None if quote < 0 else quote + 1


def _bytes(encoded: bytes) -> bytes:
    try:
        padded = encoded.translate(_STANDARD).rstrip(b"=")
        return binascii.a2b_base64(padded + b"=" * (-len(padded) % 4), strict_mode=True)
    except binascii.Error:
        raise AttachmentUnreadable(PROVIDER, "bad_encoding") from None


def _attachment_id(part: Any) -> str | None:
    body = part.get("body")
    found = body.get("attachmentId") if isinstance(body, dict) else None
    return found if isinstance(found, str) and found else None


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
