"""`penstock export`: documents, their chunks and events as JSON lines, in bounded memory."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, Final
from uuid import UUID

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.progress import bar
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, AnyProject, TenantSession, TenantSlug, tenant_session
from penstock.documents.filters import DocumentFilter
from penstock.documents.rows import Document
from penstock.errors import InvalidArgument, NotFound
from penstock.model import TenantId
from penstock.model.rows import plain

DOCUMENTS: Final = 200
ROWS: Final = 1_000
"""Documents, and chunks or events of one, that are in memory at once."""

Statuses = Annotated[
    str | None,
    typer.Option("--status", help="Only these statuses, separated by commas; ! before one excludes it."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only documents that changed since this time (ISO 8601)."),
]
After = Annotated[
    UUID | None,
    typer.Option("--after", metavar="DOCUMENT", help="Continue after the last document that was written."),
]
To = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write to; - is stdout.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
Chunks = Annotated[bool, typer.Option("--chunks/--no-chunks", help="Also write the chunks.")]
Events = Annotated[bool, typer.Option("--events/--no-events", help="Also write the events.")]


def command(
    to: To = None,
    project: AnyProject = None,
    status: Statuses = None,
    since: Since = None,
    after: After = None,
    chunks: Chunks = True,
    events: Events = True,
    force: Force = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Write documents, their chunks and their events as JSON lines, oldest document first.

    Each line has a `type`: chunk, event or document. A document's line comes after those of its chunks and
    events, so the last document in an interrupted export is complete: continue with --after and its id; with
    --output, the lines are appended.
    """
    file = None if to is None or str(to) == "-" else to
    if as_json and file is None:
        raise InvalidArgument(
            "the lines and the JSON document cannot both go to stdout", "output", "Add -o FILE"
        )
    if file is not None and file.exists() and after is None and not force:
        raise InvalidArgument(f"{file} already exists", "output", "Add --force to overwrite it, or --after")
    chosen = DocumentFilter(project=project, status=status, since=_time(since))
    counts = {"documents": 0, "chunks": 0, "events": 0}
    last = None if after is None else str(after)

    async def call() -> None:
        nonlocal last
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            counted = await session.engine.documents.page(owner, chosen, limit=1, count=True)
            with _opened(file, append=after is not None) as lines, bar("export", counted.total) as progress:
                async for document in _documents(session, owner, chosen, last):
                    if chunks and document.searchable:
                        counts["chunks"] += await _chunks(session, owner, document, lines)
                    if events:
                        counts["events"] += await _events(session, owner, document, lines)
                    _write(lines, "document", plain(document))
                    lines.flush()
                    last = str(document.document_id)
                    counts["documents"] += 1
                    progress(counts["documents"])

    try:
        run(call())
    except KeyboardInterrupt:
        if last is not None:
            warn(f"Interrupted. To continue: penstock export --after {last}")
        raise typer.Exit(Exit.INTERRUPTED) from None
    if as_json:
        output.document({**counts, "file": str(file), "last_document_id": last})
    else:
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        warn(f"Exported {told}.")


async def _documents(
    session: TenantSession, owner: TenantId, chosen: DocumentFilter, cursor: str | None
) -> AsyncIterator[Document]:
    while True:
        page = await session.engine.documents.page(
            owner, chosen, sort="oldest", cursor=cursor, limit=DOCUMENTS
        )
        for document in page.items:
            yield document
        if page.cursor is None:
            return
        cursor = page.cursor


async def _chunks(session: TenantSession, owner: TenantId, document: Document, lines: IO[str]) -> int:
    cursor, count = None, 0
    while True:
        try:
            page = await session.engine.documents.chunks(owner, document.document_id, cursor, ROWS)
        except NotFound:  # deleted meanwhile
            return count
        for chunk in page.items:
            _write(lines, "chunk", {"document_id": str(document.document_id), **plain(chunk)})
        count += len(page.items)
        if (cursor := page.cursor) is None:
            return count


async def _events(session: TenantSession, owner: TenantId, document: Document, lines: IO[str]) -> int:
    cursor, count = None, 0
    while True:
        page = await session.engine.documents.events(owner, document.document_id, cursor, ROWS)
        for event in page.items:
            _write(lines, "event", plain(event))
        count += len(page.items)
        if (cursor := page.cursor) is None:
            return count


def _write(lines: IO[str], kind: str, row: dict[str, Any]) -> None:
    lines.write(json.dumps({"type": kind, **row}, ensure_ascii=False, separators=(",", ":")) + "\n")


class _Stdout:
    """Stdout, which stays open."""

    def __enter__(self) -> IO[str]:
        return sys.stdout

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()


def _opened(file: Path | None, *, append: bool) -> IO[str] | _Stdout:
    if file is None:
        return _Stdout()
    return file.open("a" if append else "w", encoding="utf-8")


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(
            f"{text!r} is not a time", "since", "Use ISO 8601: 2026-11-17 or 2026-11-17T12:00:00Z"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
