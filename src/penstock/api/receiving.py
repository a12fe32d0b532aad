"""Receives a document in one request: the file, spooled within its limit, and the other fields."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock.api.bodies import announced, refuse_announced, stream
from penstock.api.multipart import FIELDS_BYTES, UploadForm, is_form
from penstock.blobs.spool import SpoolBudget, Spooled, spool
from penstock.errors import InvalidArgument, TooLarge

if TYPE_CHECKING:
    from fastapi import Request

    from penstock.model import TenantId

_FORM_OVERHEAD: Final = FIELDS_BYTES + 65_536


@dataclass(frozen=True, slots=True)
class ReceivedUpload:
    """A complete request; `digest` identifies its content, if requested."""

    content: Spooled
    fields: Mapping[str, str]
    filename: str | None
    declared_type: str | None
    digest: str


@asynccontextmanager
async def receive(
    request: Request, tenant_id: TenantId, limit: int, *, digest: bool
) -> AsyncIterator[ReceivedUpload]:
    """Read the body to its end: a form or, for calls that accept it, the bytes themselves."""
    refuse_announced(request, limit + _FORM_OVERHEAD, what="file")
    budget: SpoolBudget = request.app.state.spool_budget
    with budget.share(tenant_id, announced(request)) as take:
        async with _received(request, limit, take, digest=digest) as sent:
            yield sent


@asynccontextmanager
async def _received(
    request: Request, limit: int, take: Callable[[int], None], *, digest: bool
) -> AsyncIterator[ReceivedUpload]:
    kind = request.headers.get("content-type", "")
    if request.method == "PUT" and not is_form(kind):
        async with spool(_not_empty(stream(request)), limit=limit, take=take) as spooled:
            mark = hashlib.sha256(repr((kind, spooled.sha256)).encode()).hexdigest()
            yield ReceivedUpload(spooled, {}, None, kind or None, mark)
        return
    form = UploadForm(kind, _within(stream(request), limit + _FORM_OVERHEAD), digest=digest)
    await form.begin()
    async with spool(form.content(), limit=limit, take=take) as spooled:
        mark = form.digest() if digest else ""
        yield ReceivedUpload(spooled, form.fields, form.filename, form.file_type, mark)


async def _within(pieces: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """Bytes around a form's parts are in no part's limit, and a body of unknown length need never end."""
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > most:
            raise TooLarge(f"the body is over {most} bytes", "file", "Send less in one request")
        yield piece


async def _not_empty(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    empty = True
    async for piece in pieces:
        empty = False
        yield piece
    if empty:
        raise InvalidArgument("the body is empty", "body", "Send the document's bytes, or a form with a file")
