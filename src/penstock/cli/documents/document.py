"""`penstock document`: list, show, download, retry, re-index or delete documents."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.documents import retry as document_retry
from penstock.cli.documents.reference import document_of
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import describe, warn
from penstock.cli.session import run
from penstock.cli.tenant_session import (
    DEFAULT,
    AnyProject,
    DocumentName,
    TenantSession,
    TenantSlug,
    tenant_session,
)
from penstock.documents.rows import Document, Page
from penstock.errors import InvalidArgument, Refused
from penstock.model import DocumentId as Id
from penstock.model import DocumentStatus, TenantId
from penstock.model.rows import items, plain

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

DocumentNames = Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Document ids, paths or names.")]
Status = Annotated[DocumentStatus | None, typer.Option(help="Only documents with this status.")]
MimeType = Annotated[
    str | None, typer.Option("--type", metavar="MIME", help="Only documents of this MIME type.")
]
Title = Annotated[
    str | None, typer.Option(help="Only documents whose title or file name contains this text.")
]
Cursor = Annotated[str | None, typer.Option(help="Continue after the page that returned this cursor.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Maximum number of documents to show.")]
To = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write to; - is stdout.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]

LISTED = ("document_id", "status", "reason_code", "project", "chunk_count", "mime_type", "title", "name")


@group.command("list")
def list_documents(
    tenant: TenantSlug = DEFAULT,
    project: AnyProject = None,
    status: Status = None,
    mime_type: MimeType = None,
    title: Title = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    as_json: output.AsJson = False,
) -> None:
    """List documents, newest first."""

    async def call() -> Page[Document]:
        async with tenant_session() as session:
            return await session.engine.documents.list(
                await session.tenant(tenant),
                project=project,
                status=status,
                mime_type=mime_type,
                title=title,
                cursor=cursor,
                limit=limit,
            )

    page = run(call())
    if as_json:
        output.document({"documents": [plain(each) for each in page.items], "cursor": page.cursor})
        return
    output.records(LISTED, page.items, empty="No documents.")
    if page.cursor is not None:
        warn(f"There are more: add --cursor {page.cursor}")


@group.command("show")
def show(document: DocumentName, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Show everything about one document."""

    async def call() -> Document:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            return await session.engine.documents.show(owner, await document_of(session, owner, document))

    found = run(call())
    if as_json:
        output.document(plain(found))
    else:
        output.facts({name: value for name, value in items(found) if value not in (None, [], {})})


@group.command("get")
def get(
    document: DocumentName,
    to: To = None,
    force: Force = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Download the original file to stdout or to a file."""
    if to is not None and str(to) == "-":
        to = None
    if as_json and to is None:
        raise InvalidArgument(
            "the original and the JSON document cannot both go to stdout", "output", "Add -o FILE"
        )
    if to is not None and to.exists() and not force:
        raise InvalidArgument(f"{to} already exists", "output", "Add --force to overwrite it")
    if to is None and sys.stdout.isatty():
        raise InvalidArgument(
            "the original may contain bytes that break the terminal", "output", "Add -o FILE, or pipe it"
        )

    async def call() -> dict[str, object]:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            document_id = await document_of(session, owner, document)
            content = await session.engine.documents.content(owner, document_id)
            file = sys.stdout.buffer if to is None else to.open("wb")  # closed below, unless it is stdout
            try:
                async for piece in content.stream:
                    file.write(piece)
                file.flush()
            finally:
                if to is not None:
                    file.close()
            return {
                "document_id": document_id,
                "file": None if to is None else str(to.absolute()),
                "bytes": content.size,
                "mime_type": content.mime_type,
                "sha256": content.sha256,
            }

    done = run(call())
    if as_json:
        output.document(done)
    elif to is not None:
        output.write(f"{to}: {done['bytes']:,} bytes, {done['mime_type']}")


@group.command("retry")
def retry(
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="DOCUMENT", help="Document ids, paths or names.")
    ] = None,
    status: document_retry.Status = None,
    reason: document_retry.Reason = None,
    project: AnyProject = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Process failed or skipped documents again.

    Name documents, or use --status: then all documents with that status are retried, or only those with one
    --reason, and their number is shown first.
    """
    if status is not None:
        if documents:
            raise InvalidArgument("name documents or use --status, not both", "status", "Remove one of them")
        document_retry.retry_all(tenant, status, reason, project, yes=yes, dry_run=dry_run, as_json=as_json)
        return
    if not documents or reason is not None or project is not None:
        missing = "no documents were named" if not documents else "--reason needs --status"
        raise InvalidArgument(missing, "status", "Name documents, or use --status failed [--reason CODE]")

    if dry_run:
        _would("retry", documents, tenant, as_json=as_json)
        return

    async def one(session: TenantSession, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"task_id": await session.engine.documents.retry(owner, document_id)}

    _each(documents, tenant, "retry", "queued", one, as_json=as_json)


@group.command("reindex")
def reindex(documents: DocumentNames, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Index documents again.

    Searches find the old version until the new one is ready.
    """

    async def one(session: TenantSession, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"task_id": await session.engine.documents.reindex(owner, document_id)}

    _each(documents, tenant, "reindex", "queued", one, as_json=as_json)


@group.command("delete")
def delete(
    documents: DocumentNames,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Delete documents with their attachments.

    Searches no longer find them.
    """
    if dry_run:
        _would("delete", documents, tenant, as_json=as_json)
        return
    count = output.count(len(documents), "document")
    confirm(f"delete {count} of tenant {tenant}", yes=yes, as_json=as_json)

    async def one(session: TenantSession, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"deleted": await session.engine.documents.delete(owner, document_id)}

    _each(documents, tenant, "delete", "deleted", one, as_json=as_json)


def _would(verb: str, documents: list[str], tenant: str, *, as_json: bool) -> None:
    """Name the documents that an action would be applied to."""

    async def call() -> list[Document]:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            return [
                await session.engine.documents.show(owner, await document_of(session, owner, each))
                for each in documents
            ]

    found = run(call())
    if not as_json:
        output.records(LISTED, found)
    would(
        f"{verb} {output.count(len(found), 'document')} of tenant {tenant}",
        as_json=as_json,
        count=len(found),
        documents=[{"document_id": each.document_id, "name": each.name} for each in found],
    )


def _each(
    documents: list[str],
    tenant: str,
    verb: str,
    result: str,
    one: Callable[[TenantSession, TenantId, Id], Awaitable[dict[str, object]]],
    *,
    as_json: bool,
) -> None:
    """Apply an action to each document; one failure does not stop the others but sets the exit code.

    If there is only one document, its refusal is that of the command, in the audit too.
    """

    async def call() -> list[tuple[Id | str, dict[str, object] | Refused]]:
        done: list[tuple[Id | str, dict[str, object] | Refused]] = []
        async with tenant_session() as session:
            named = ", ".join(documents)
            owner = await session.tenant(tenant, change=f"document {verb}", target=named)
            for document in documents:
                meant: Id | str = document
                try:
                    meant = await document_of(session, owner, document)
                    done.append((meant, await one(session, owner, meant)))
                except Refused as error:
                    if len(documents) == 1:
                        raise
                    done.append((meant, error))
        return done

    results = run(call())
    rows: list[dict[str, object]] = []
    for document_id, outcome in results:
        if isinstance(outcome, Refused):
            rows.append({"document_id": document_id, "result": "refused", "error": describe(outcome)})
            if not as_json:
                warn(f"error: {document_id}: {describe(outcome).line()}")
            continue
        rows.append({"document_id": document_id, "result": result, "error": None, **outcome})
        if not as_json:
            output.write(f"{document_id}  {result}")
    if as_json:
        output.document({"documents": rows})
    if any(row["error"] for row in rows):
        raise typer.Exit(Exit.REFUSED)
