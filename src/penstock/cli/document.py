"""`penstock document`: list and show documents, get an original, retry, re-index, delete."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import document_retry, output
from penstock.cli.document_reference import document_of
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import describe, warn
from penstock.cli.product_session import DEFAULT, AnyProject, DocumentName, Stay, TenantSlug, stay
from penstock.cli.session import run
from penstock.errors import InvalidArgument, Refused
from penstock.intake import Document, Page
from penstock.model import DocumentId as Id
from penstock.model import DocumentStatus, TenantId

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

DocumentNames = Annotated[
    list[str], typer.Argument(metavar="DOCUMENT…", help="Ids, paths or names of documents.")
]
Status = Annotated[DocumentStatus | None, typer.Option(help="Only documents in this status.")]
MimeType = Annotated[str | None, typer.Option("--type", metavar="MIME", help="Only this mime type.")]
Title = Annotated[str | None, typer.Option(help="Only those whose title or file name holds this.")]
Cursor = Annotated[str | None, typer.Option(help="Go on after the page that gave this cursor.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="At most so many.")]
To = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; - is stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

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
def show(document: DocumentName, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """All there is to know about one document."""

    async def call() -> Document:
        async with stay() as here:
            owner = await here.tenant(tenant)
            return await here.product.documents.show(owner, await document_of(here, owner, document))

    found = run(call())
    if as_json:
        output.document(plain(found))
    else:
        output.facts({name: value for name, value in found if value not in (None, [], {})})


@group.command("get")
def get(
    document: DocumentName,
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
            owner = await here.tenant(tenant)
            document_id = await document_of(here, owner, document)
            content = await here.product.documents.content(owner, document_id)
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
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="[DOCUMENT]…", help="Ids, paths or names of documents.")
    ] = None,
    status: document_retry.Status = None,
    reason: document_retry.Reason = None,
    project: AnyProject = None,
    yes: Yes = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Send failed or skipped documents through again, by name or all that match.

    With --status all documents in it are retried, or those with one --reason; their number is shown first.
    """
    if status is not None:
        if documents:
            raise InvalidArgument("give documents or --status, not both", "status", "Remove one of them")
        document_retry.retry_all(tenant, status, reason, project, yes=yes, as_json=as_json)
        return
    if not documents or reason is not None or project is not None:
        missing = "nothing says which documents to retry" if not documents else "--reason needs --status"
        raise InvalidArgument(missing, "status", "Name documents, or use --status failed [--reason CODE]")

    async def one(here: Stay, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"task_id": await here.product.documents.retry(owner, document_id)}

    _each(documents, tenant, "queued", one, as_json=as_json)


@group.command("reindex")
def reindex(documents: DocumentNames, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Index documents again; searches find the old version until the new one takes its place."""

    async def one(here: Stay, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"task_id": await here.product.documents.reindex(owner, document_id)}

    _each(documents, tenant, "queued", one, as_json=as_json)


@group.command("delete")
def delete(
    documents: DocumentNames, yes: Yes = False, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False
) -> None:
    """Delete documents with their attachments; no search finds them from then on."""
    if not yes:
        count = f"{len(documents)} document{'s' if len(documents) > 1 else ''} of tenant {tenant}"
        if as_json or not sys.stdin.isatty():
            raise InvalidArgument(f"nobody confirmed to delete {count}", "yes", "Use --yes")
        typer.confirm(f"Delete {count}?", abort=True, err=True)

    async def one(here: Stay, owner: TenantId, document_id: Id) -> dict[str, object]:
        return {"deleted": await here.product.documents.delete(owner, document_id)}

    _each(documents, tenant, "deleted", one, as_json=as_json)


def plain(row: Document) -> dict[str, object]:
    return row.model_dump(mode="json")


def _each(
    documents: list[str],
    tenant: str,
    result: str,
    one: Callable[[Stay, TenantId, Id], Awaitable[dict[str, object]]],
    *,
    as_json: bool,
) -> None:
    """Do it to each; what is refused does not keep the others, but the exit code tells."""

    async def call() -> list[tuple[Id | str, dict[str, object] | Refused]]:
        done: list[tuple[Id | str, dict[str, object] | Refused]] = []
        async with stay() as here:
            owner = await here.tenant(tenant)
            for document in documents:
                meant: Id | str = document
                try:
                    meant = await document_of(here, owner, document)
                    done.append((meant, await one(here, owner, meant)))
                except Refused as error:
                    done.append((meant, error))
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
