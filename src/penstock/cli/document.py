"""`penstock document`: list and show documents, get an original, retry, re-index, delete."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from penstock.cli import document_retry, output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import describe, warn
from penstock.cli.product_session import DEFAULT, AnyProject, DocumentId, Stay, TenantSlug, stay
from penstock.cli.session import run
from penstock.errors import InvalidArgument, Refused
from penstock.intake import Document, Page
from penstock.model import DocumentId as Id
from penstock.model import DocumentStatus, TenantId

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

DocumentIds = Annotated[list[UUID], typer.Argument(metavar="DOCUMENT…")]
Status = Annotated[DocumentStatus | None, typer.Option(help="Only documents in this status.")]
MimeType = Annotated[str | None, typer.Option("--type", metavar="MIME", help="Only this mime type.")]
Title = Annotated[str | None, typer.Option(help="Only those whose title or file name holds this.")]
Cursor = Annotated[str | None, typer.Option(help="Go on after the page that gave this cursor.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="At most so many.")]
To = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; - is stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

LISTED = ("document_id", "status", "reason_code", "project", "chunk_count", "mime_type", "title", "filename")


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
    """Documents, the newest first."""

    async def call() -> Page[Document]:
        async with stay() as here:
            return await here.product.documents.list(
                await here.tenant(tenant),
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
        warn(f"There are more: --cursor {page.cursor}")


@group.command("show")
def show(document_id: DocumentId, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """All there is to know about one document."""

    async def call() -> Document:
        async with stay() as here:
            return await here.product.documents.show(await here.tenant(tenant), Id(document_id))

    found = run(call())
    if as_json:
        output.document(plain(found))
    else:
        output.facts({name: value for name, value in found if value not in (None, [], {})})


@group.command("get")
def get(
    document_id: DocumentId,
    to: To = None,
    force: Force = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """The original, byte for byte, on stdout or in a file."""
    if to is not None and str(to) == "-":
        to = None
    if as_json and to is None:
        raise InvalidArgument(
            "the original and a JSON document cannot both go to stdout", "output", "Use -o FILE"
        )
    if to is not None and to.exists() and not force:
        raise InvalidArgument(f"{to} is there already", "output", "Use --force to replace it")
    if to is None and sys.stdout.isatty():
        raise InvalidArgument("an original may break the terminal", "output", "Use -o FILE, or a pipe")

    async def call() -> dict[str, object]:
        async with stay() as here:
            content = await here.product.documents.content(await here.tenant(tenant), Id(document_id))
            file = sys.stdout.buffer if to is None else to.open("wb")  # closed below unless stdout
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
    document_ids: Annotated[list[UUID] | None, typer.Argument(metavar="[DOCUMENT]…")] = None,
    status: document_retry.Status = None,
    reason: document_retry.Reason = None,
    project: AnyProject = None,
    yes: Yes = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Send failed or skipped documents through again, by id or all that match.

    With --status all documents in it are retried, or those with one --reason; their number is shown first.
    """
    if status is not None:
        if document_ids:
            raise InvalidArgument("give documents or --status, not both", "status", "Remove one of them")
        document_retry.retry_all(tenant, status, reason, project, yes=yes, as_json=as_json)
        return
    if not document_ids or reason is not None or project is not None:
        missing = "nothing says which documents to retry" if not document_ids else "--reason needs --status"
        raise InvalidArgument(missing, "status", "Name documents, or use --status failed [--reason CODE]")

    async def one(here: Stay, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"task_id": await here.product.documents.retry(owner, document_id)}

    _each(document_ids, tenant, "queued", one, as_json=as_json)


@group.command("reindex")
def reindex(document_ids: DocumentIds, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Index documents again; searches find the old version until the new one takes its place."""

    async def one(here: Stay, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"task_id": await here.product.documents.reindex(owner, document_id)}

    _each(document_ids, tenant, "queued", one, as_json=as_json)


@group.command("delete")
def delete(
    document_ids: DocumentIds, yes: Yes = False, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Delete documents with their attachments; no search finds them from then on."""
    if not yes:
        count = f"{len(document_ids)} document{'s' if len(document_ids) > 1 else ''} of tenant {tenant}"
        if as_json or not sys.stdin.isatty():
            raise InvalidArgument(f"nobody confirmed to delete {count}", "yes", "Use --yes")
        typer.confirm(f"Delete {count}?", abort=True, err=True)

    async def one(here: Stay, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"deleted": await here.product.documents.delete(owner, document_id)}

    _each(document_ids, tenant, "deleted", one, as_json=as_json)


def plain(row: Document) -> dict[str, object]:
    return row.model_dump(mode="json")


def _each(
    document_ids: list[UUID],
    tenant: str,
    result: str,
    one: Callable[[Stay, TenantId, Id], Awaitable[dict[str, object]]],
    *,
    as_json: bool,
) -> None:
    """Do it to each; what is refused does not keep the others, but the exit code tells."""

    async def call() -> list[tuple[UUID, dict[str, object] | Refused]]:
        done: list[tuple[UUID, dict[str, object] | Refused]] = []
        async with stay() as here:
            owner = await here.tenant(tenant)
            for document_id in document_ids:
                try:
                    done.append((document_id, await one(here, owner, Id(document_id))))
                except Refused as error:
                    done.append((document_id, error))
        return done

    results = run(call())
    if len(results) == 1 and isinstance(results[0][1], Refused):
        raise results[0][1]
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
