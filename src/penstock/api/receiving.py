"""What one request sends as a document: the file, spooled within its limit, and the fields around it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.api.bodies import refuse_announced, stream
from penstock.api.multipart import FIELDS_BYTES, UploadForm, is_form
from penstock.errors import InvalidArgument
from penstock.intake.spool import Spooled, spool

if TYPE_CHECKING:
    from fastapi import Request

_FORM_OVERHEAD: Final = FIELDS_BYTES + 65_536


@dataclass(frozen=True, slots=True)
class Sent:
    """A whole request; `digest` tells two requests apart, when it was asked for."""

    content: Spooled
    fields: Mapping[str, str]
    filename: str | None
    declared_type: str | None
    digest: str


@asynccontextmanager
async def receive(request: Request, limit: int, *, digest: bool) -> AsyncIterator[Sent]:
    """Read the body to its end; it is a form, or for calls that take it, the bytes themselves."""
    refuse_announced(request, limit + _FORM_OVERHEAD, what="file")
    kind = request.headers.get("content-type", "")
    if request.method == "PUT" and not is_form(kind):
        async with spool(_not_empty(stream(request)), limit=limit) as spooled:
            mark = hashlib.sha256(repr((kind, spooled.sha256)).encode()).hexdigest()
            yield Sent(spooled, {}, None, kind or None, mark)
        return
    form = UploadForm(kind, stream(request), digest=digest)
    await form.begin()
    async with spool(form.content(), limit=limit) as spooled:
        mark = form.digest() if digest else ""
        yield Sent(spooled, form.fields, form.filename, form.file_type, mark)


async def _not_empty(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    empty = True
    async for piece in pieces:
        empty = False
        yield piece
    if empty:
        raise InvalidArgument("the body is empty", "body", "Send the document's bytes, or a form with a file")
